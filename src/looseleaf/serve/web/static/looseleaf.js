// The page works without this. It adds single keys, the slider of days, and word of what is new.
"use strict";
(() => {
  const page = document.documentElement;
  const find = (selector, from = document) => from.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  page.classList.add("scripted");

  // --- single keys: dead in fields, with a modifier, and where they are switched off ---

  const keysAreOn = page.dataset.keys !== "off";
  const isField = (node) => node.matches?.("input, textarea, select, [contenteditable]");

  function step(by) {
    const items = all("[data-item]");
    if (!items.length) return;
    const at = items.findIndex((each) => each.classList.contains("at"));
    const next = items[at < 0 ? (by > 0 ? 0 : items.length - 1) : Math.min(Math.max(at + by, 0), items.length - 1)];
    items[at]?.classList.remove("at");
    next.classList.add("at");
    next.tabIndex = -1;
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  function edit(form) {
    form.classList.remove("closed");
    const text = find("textarea, input:not([type=hidden])", form);
    text.focus();
    text.select();
  }

  function press(key) {
    const named = find(`[data-key="${CSS.escape(key)}"]`);
    if (named) named.click();
    else if (key === "j") step(1);
    else if (key === "k") step(-1);
    else if (key === "/") {
      const field = find("#q");
      const link = find('.nav a[href$="/search"]');
      if (field) field.focus();
      else if (link) location.assign(link.href);
      else return false;
    } else return false;
    return true;
  }

  document.addEventListener("keydown", (event) => {
    const plain = !(event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat);
    if (!keysAreOn || !plain || event.key.length !== 1 || isField(event.target)) return;
    if (press(event.key.toLowerCase())) event.preventDefault();
  });

  // The form that edits is on the page already: open it, ask nobody.
  all('a[data-key="e"]').forEach((link) => link.addEventListener("click", (event) => {
    const form = document.getElementById(link.hash.slice(1));
    if (!form) return;
    event.preventDefault();
    edit(form);
  }));

  // A form is sent once, however often its key is pressed.
  const sent = new WeakSet();
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post") return;
    if (sent.has(event.target)) event.preventDefault();
    sent.add(event.target);
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload(); // a page from before: what it says may be out of date
  });

  // --- the slider: the days of change, and today at its end ---

  const slide = document.getElementById("slide");
  if (slide) {
    const days = slide.dataset.days.split(" ");
    const told = document.getElementById("slid");
    let waiting;
    const written = { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" };
    const show = () => {
      const day = days[Number(slide.value)];
      told.textContent = day ? new Date(day).toLocaleDateString("en-GB", written) : "today";
      slide.setAttribute("aria-valuetext", told.textContent);
    };
    slide.setAttribute("aria-valuetext", told.textContent);
    slide.addEventListener("input", () => {
      show();
      clearTimeout(waiting);
    });
    slide.addEventListener("change", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        const to = new URL(slide.dataset.address, location.href);
        const day = days[Number(slide.value)];
        if (day) to.searchParams.set("as_of", day);
        if (slide.dataset.topic) to.searchParams.set("topic", slide.dataset.topic);
        to.hash = "slide";
        location.assign(to);
      }, 500);
    });
    if (location.hash === "#slide") slide.focus({ preventScroll: true });
  }

  // --- what is new: said, and never put under the reader's eyes ---

  const live = document.getElementById("live");
  if (live && "EventSource" in window) {
    const begun = new Date();
    const clock = begun.toTimeString().slice(0, 5);
    const news = { waiting: "Something waits for you.", compacted: "The window was compacted.", traced: "Something was said." };
    let source, gone, told = "";

    const say = (text, link) => {
      if (told === text) return;
      told = text;
      live.textContent = text;
      if (link) {
        const again = document.createElement("a");
        const here = new URL(location.href);
        here.searchParams.delete("note");
        again.href = here.href;
        again.textContent = link;
        live.append(" ", again);
      }
    };

    const hear = (name) => (event) => {
      if (event.lastEventId <= live.dataset.since) return; // this page knows it already
      if (name === "job" && !find(`[data-job="${CSS.escape(event.lastEventId)}"]`)) return;
      if (name === "traced" && !live.hasAttribute("data-talk")) return;
      say(name === "job" ? "The work goes on." : news[name] ?? "Something new was written.", "Show it");
    };

    const open = () => {
      source = new EventSource(live.dataset.events);
      for (const name of ["traced", "placed", "edited", "waiting", "compacted", "job"]) {
        source.addEventListener(name, hear(name));
      }
      source.onopen = () => {
        clearTimeout(gone);
        gone = undefined;
        if (told.startsWith("The server is gone")) say("The server is back.", "Load this page again");
      };
      source.onerror = () => {
        if (source.readyState === EventSource.CLOSED) say("This page no longer hears what is new.", "Load it again");
        else gone ??= setTimeout(() => say(`The server is gone. This is what it said at ${clock}.`), 4000);
      };
    };

    // A browser has few connections to a server: a page that nobody looks at gives its one back.
    const look = () => {
      if (document.visibilityState === "visible") {
        if (!source) open();
      } else {
        source?.close();
        clearTimeout(gone);
        source = gone = undefined;
      }
    };
    document.addEventListener("visibilitychange", look);
    addEventListener("pagehide", () => source?.close());
    look();
  }
})();
