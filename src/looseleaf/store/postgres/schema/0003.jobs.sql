-- serves: 1
-- Jobs of all memories (docs/WORKERS.md), in a schema of their own. Row security does not cover them: they hold kinds,
-- agents, numbers and ids, and no text of a memory.

-- --- the queue: the tables and functions of procrastinate 3.10, as they are there ---------
--
--    MIT License
--
--    Copyright (c) 2019-2021, PeopleDoc
--    Copyright (c) 2021-2023, Joachim Jablon, Eric Lemoine
--    Copyright (c) 2024-, Joachim Jablon, Kai Schlamp
--
--    Permission is hereby granted, free of charge, to any person obtaining a copy of this
--    software and associated documentation files (the "Software"), to deal in the Software
--    without restriction, including without limitation the rights to use, copy, modify,
--    merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
--    permit persons to whom the Software is furnished to do so, subject to the following
--    conditions:
--
--    The above copyright notice and this permission notice shall be included in all copies or
--    substantial portions of the Software.
--
--    THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED,
--    INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR
--    PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE
--    LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT
--    OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR
--    OTHER DEALINGS IN THE SOFTWARE.

CREATE SCHEMA looseleaf_jobs;
SET LOCAL search_path = looseleaf_jobs, pg_catalog;

-- Enums

CREATE TYPE procrastinate_job_status AS ENUM (
    'todo',  -- The job is queued
    'doing',  -- The job has been fetched by a worker
    'succeeded',  -- The job ended successfully
    'failed',  -- The job ended with an error
    'cancelled', -- The job was cancelled
    'aborting',  -- legacy, not used anymore since v3.0.0
    'aborted'  -- The job was aborted
);

CREATE TYPE procrastinate_job_event_type AS ENUM (
    'deferred',  -- Job created, in todo
    'started',  -- todo -> doing
    'deferred_for_retry',  -- doing -> todo
    'failed',  -- doing -> failed
    'succeeded',  -- doing -> succeeded
    'cancelled', -- todo -> cancelled
    'abort_requested', -- not a state transition, but set in a separate field
    'aborted', -- doing -> aborted (only allowed when abort_requested field is set)
    'scheduled', -- not a state transition, but recording when a task is scheduled for
    'retried' -- Manually retried failed job
);

-- Composite Types

CREATE TYPE procrastinate_job_to_defer_v1 AS (
    queue_name character varying,
    task_name character varying,
    priority integer,
    lock text,
    queueing_lock text,
    args jsonb,
    scheduled_at timestamp with time zone
);

-- Tables

CREATE TABLE procrastinate_workers(
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    last_heartbeat timestamp with time zone NOT NULL DEFAULT NOW()
);

CREATE TABLE procrastinate_jobs (
    id bigserial PRIMARY KEY,
    queue_name character varying(128) NOT NULL,
    task_name character varying(128) NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    lock text,
    queueing_lock text,
    args jsonb DEFAULT '{}' NOT NULL,
    status procrastinate_job_status DEFAULT 'todo'::procrastinate_job_status NOT NULL,
    scheduled_at timestamp with time zone NULL,
    attempts integer DEFAULT 0 NOT NULL,
    abort_requested boolean DEFAULT false NOT NULL,
    worker_id bigint REFERENCES procrastinate_workers(id) ON DELETE SET NULL,
    CONSTRAINT check_not_todo_abort_requested CHECK (NOT (status = 'todo' AND abort_requested = true))
);

CREATE TABLE procrastinate_periodic_defers (
    id bigserial PRIMARY KEY,
    task_name character varying(128) NOT NULL,
    defer_timestamp bigint,
    job_id bigint REFERENCES procrastinate_jobs(id) NULL,
    periodic_id character varying(128) NOT NULL DEFAULT '',
    CONSTRAINT procrastinate_periodic_defers_unique UNIQUE (task_name, periodic_id, defer_timestamp)
);

CREATE TABLE procrastinate_events (
    id bigserial PRIMARY KEY,
    job_id bigint NOT NULL REFERENCES procrastinate_jobs ON DELETE CASCADE,
    type procrastinate_job_event_type,
    at timestamp with time zone DEFAULT NOW() NULL
);

-- Constraints & Indices

-- this prevents from having several jobs with the same queueing lock in the "todo" state
CREATE UNIQUE INDEX procrastinate_jobs_queueing_lock_idx_v1 ON procrastinate_jobs (queueing_lock) WHERE status = 'todo';
-- this prevents from having several jobs with the same lock in the "doing" state
CREATE UNIQUE INDEX procrastinate_jobs_lock_idx_v1 ON procrastinate_jobs (lock) WHERE status = 'doing';

-- Index for select_stalled_jobs_by_heartbeat query
CREATE INDEX idx_procrastinate_jobs_worker_not_null ON procrastinate_jobs(worker_id) WHERE worker_id IS NOT NULL AND status = 'doing'::procrastinate_job_status;

CREATE INDEX procrastinate_jobs_queue_name_idx_v1 ON procrastinate_jobs(queue_name);
CREATE INDEX procrastinate_jobs_id_lock_idx_v1 ON procrastinate_jobs (id, lock) WHERE status = ANY (ARRAY['todo'::procrastinate_job_status, 'doing'::procrastinate_job_status]);
CREATE INDEX procrastinate_jobs_priority_idx_v1 ON procrastinate_jobs(priority desc, id asc) WHERE (status = 'todo'::procrastinate_job_status);

CREATE INDEX procrastinate_events_job_id_fkey_v1 ON procrastinate_events(job_id);

CREATE INDEX procrastinate_periodic_defers_job_id_fkey_v1 ON procrastinate_periodic_defers(job_id);

CREATE INDEX idx_procrastinate_workers_last_heartbeat ON procrastinate_workers(last_heartbeat);

-- Functions
CREATE FUNCTION procrastinate_defer_jobs_v1(
    jobs procrastinate_job_to_defer_v1[]
)
    RETURNS bigint[]
    LANGUAGE plpgsql
AS $$
DECLARE
    job_ids bigint[];
BEGIN
    WITH inserted_jobs AS (
        INSERT INTO procrastinate_jobs (queue_name, task_name, priority, lock, queueing_lock, args, scheduled_at)
        SELECT (job).queue_name,
               (job).task_name,
               (job).priority,
               (job).lock,
               (job).queueing_lock,
               (job).args,
               (job).scheduled_at
        FROM unnest(jobs) AS job
        RETURNING id
    )
    SELECT array_agg(id) FROM inserted_jobs INTO job_ids;

    RETURN job_ids;
END;
$$;

CREATE FUNCTION procrastinate_defer_periodic_job_v2(
    _queue_name character varying,
    _lock character varying,
    _queueing_lock character varying,
    _task_name character varying,
    _priority integer,
    _periodic_id character varying,
    _defer_timestamp bigint,
    _args jsonb
)
    RETURNS bigint
    LANGUAGE plpgsql
AS $$
DECLARE
	_job_id bigint;
	_defer_id bigint;
BEGIN
    INSERT
        INTO procrastinate_periodic_defers (task_name, periodic_id, defer_timestamp)
        VALUES (_task_name, _periodic_id, _defer_timestamp)
        ON CONFLICT DO NOTHING
        RETURNING id into _defer_id;

    IF _defer_id IS NULL THEN
        RETURN NULL;
    END IF;

    UPDATE procrastinate_periodic_defers
        SET job_id = (
            SELECT COALESCE((
                SELECT unnest(procrastinate_defer_jobs_v1(
                    ARRAY[
                        ROW(
                            _queue_name,
                            _task_name,
                            _priority,
                            _lock,
                            _queueing_lock,
                            _args,
                            NULL::timestamptz
                        )
                    ]::procrastinate_job_to_defer_v1[]
                ))
            ), NULL)
        )
        WHERE id = _defer_id
        RETURNING job_id INTO _job_id;

    DELETE
        FROM procrastinate_periodic_defers
        USING (
            SELECT id
            FROM procrastinate_periodic_defers
            WHERE procrastinate_periodic_defers.task_name = _task_name
            AND procrastinate_periodic_defers.periodic_id = _periodic_id
            AND procrastinate_periodic_defers.defer_timestamp < _defer_timestamp
            ORDER BY id
            FOR UPDATE
        ) to_delete
        WHERE procrastinate_periodic_defers.id = to_delete.id;

    RETURN _job_id;
END;
$$;

CREATE FUNCTION procrastinate_fetch_job_v2(
    target_queue_names character varying[],
    p_worker_id bigint
)
    RETURNS procrastinate_jobs
    LANGUAGE plpgsql
AS $$
DECLARE
	found_jobs procrastinate_jobs;
BEGIN
    WITH candidate AS (
        SELECT jobs.*
            FROM procrastinate_jobs AS jobs
            WHERE
                -- reject the job if its lock has earlier or higher priority jobs
                NOT EXISTS (
                    SELECT 1
                        FROM procrastinate_jobs AS other_jobs
                        WHERE
                            jobs.lock IS NOT NULL
                            AND other_jobs.lock = jobs.lock
                            AND (
                                -- job with same lock is already running
                                other_jobs.status = 'doing'
                                OR
                                -- job with same lock is waiting and has higher priority (or same priority but was queued first)
                                (
                                    other_jobs.status = 'todo'
                                    AND (
                                        other_jobs.priority > jobs.priority
                                        OR (
                                        other_jobs.priority = jobs.priority
                                        AND other_jobs.id < jobs.id
                                        )
                                    )
                                )
                            )
                )
                AND jobs.status = 'todo'
                AND (target_queue_names IS NULL OR jobs.queue_name = ANY( target_queue_names ))
                AND (jobs.scheduled_at IS NULL OR jobs.scheduled_at <= now())
            ORDER BY jobs.priority DESC, jobs.id ASC LIMIT 1
            FOR UPDATE OF jobs SKIP LOCKED
    )
    UPDATE procrastinate_jobs
        SET status = 'doing', worker_id = p_worker_id
        FROM candidate
        WHERE procrastinate_jobs.id = candidate.id
        RETURNING procrastinate_jobs.* INTO found_jobs;

 RETURN found_jobs;
END;
$$;

CREATE FUNCTION procrastinate_finish_job_v1(job_id bigint, end_status procrastinate_job_status, delete_job boolean)
    RETURNS void
    LANGUAGE plpgsql
AS $$
DECLARE
    _job_id bigint;
BEGIN
    IF end_status NOT IN ('succeeded', 'failed', 'aborted') THEN
        RAISE 'End status should be either "succeeded", "failed" or "aborted" (job id: %)', job_id;
    END IF;
    IF delete_job THEN
        DELETE FROM procrastinate_jobs
        WHERE id = job_id AND status IN ('todo', 'doing')
        RETURNING id INTO _job_id;
    ELSE
        UPDATE procrastinate_jobs
        SET status = end_status,
            abort_requested = false,
            attempts = CASE status
                WHEN 'doing' THEN attempts + 1 ELSE attempts
            END
        WHERE id = job_id AND status IN ('todo', 'doing')
        RETURNING id INTO _job_id;
    END IF;
    IF _job_id IS NULL THEN
        RAISE 'Job was not found or not in "doing" or "todo" status (job id: %)', job_id;
    END IF;
END;
$$;

CREATE FUNCTION procrastinate_cancel_job_v1(job_id bigint, abort boolean, delete_job boolean)
    RETURNS bigint
    LANGUAGE plpgsql
AS $$
DECLARE
    _job_id bigint;
BEGIN
    IF delete_job THEN
        DELETE FROM procrastinate_jobs
        WHERE id = job_id AND status = 'todo'
        RETURNING id INTO _job_id;
    END IF;
    IF _job_id IS NULL THEN
        IF abort THEN
            UPDATE procrastinate_jobs
            SET abort_requested = true,
                status = CASE status
                    WHEN 'todo' THEN 'cancelled'::procrastinate_job_status ELSE status
                END
            WHERE id = job_id AND status IN ('todo', 'doing')
            RETURNING id INTO _job_id;
        ELSE
            UPDATE procrastinate_jobs
            SET status = 'cancelled'::procrastinate_job_status
            WHERE id = job_id AND status = 'todo'
            RETURNING id INTO _job_id;
        END IF;
    END IF;
    RETURN _job_id;
END;
$$;

CREATE FUNCTION procrastinate_retry_job_v1(
    job_id bigint,
    retry_at timestamp with time zone,
    new_priority integer,
    new_queue_name character varying,
    new_lock character varying
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    _job_id bigint;
    _abort_requested boolean;
BEGIN
    SELECT abort_requested FROM procrastinate_jobs
    WHERE id = job_id AND status = 'doing'
    FOR UPDATE
    INTO _abort_requested;
    IF _abort_requested THEN
        UPDATE procrastinate_jobs
        SET status = 'failed'::procrastinate_job_status
        WHERE id = job_id AND status = 'doing'
        RETURNING id INTO _job_id;
    ELSE
        UPDATE procrastinate_jobs
        SET status = 'todo'::procrastinate_job_status,
            attempts = attempts + 1,
            scheduled_at = retry_at,
            priority = COALESCE(new_priority, priority),
            queue_name = COALESCE(new_queue_name, queue_name),
            lock = COALESCE(new_lock, lock)
        WHERE id = job_id AND status = 'doing'
        RETURNING id INTO _job_id;
    END IF;

    IF _job_id IS NULL THEN
        RAISE 'Job was not found or not in "doing" status (job id: %)', job_id;
    END IF;
END;
$$;

CREATE FUNCTION procrastinate_retry_job_v2(
    job_id bigint,
    retry_at timestamp with time zone,
    new_priority integer,
    new_queue_name character varying,
    new_lock character varying
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    _job_id bigint;
    _abort_requested boolean;
    _current_status procrastinate_job_status;
BEGIN
    SELECT status, abort_requested FROM procrastinate_jobs
    WHERE id = job_id AND status IN ('doing', 'failed')
    FOR UPDATE
    INTO _current_status, _abort_requested;
    IF _current_status = 'doing' AND _abort_requested THEN
        UPDATE procrastinate_jobs
        SET status = 'failed'::procrastinate_job_status
        WHERE id = job_id AND status = 'doing'
        RETURNING id INTO _job_id;
    ELSE
        UPDATE procrastinate_jobs
        SET status = 'todo'::procrastinate_job_status,
            attempts = attempts + 1,
            scheduled_at = retry_at,
            priority = COALESCE(new_priority, priority),
            queue_name = COALESCE(new_queue_name, queue_name),
            lock = COALESCE(new_lock, lock)
        WHERE id = job_id AND status IN ('doing', 'failed')
        RETURNING id INTO _job_id;
    END IF;

    IF _job_id IS NULL THEN
        RAISE 'Job was not found or has an invalid status to retry (job id: %)', job_id;
    END IF;

END;
$$;

CREATE FUNCTION procrastinate_notify_queue_job_inserted_v1()
    RETURNS trigger
    LANGUAGE plpgsql
AS $$
DECLARE
    payload TEXT;
BEGIN
    SELECT json_build_object('type', 'job_inserted', 'job_id', NEW.id)::text INTO payload;
	PERFORM pg_notify('procrastinate_queue_v1#' || NEW.queue_name, payload);
	PERFORM pg_notify('procrastinate_any_queue_v1', payload);
	RETURN NEW;
END;
$$;

CREATE FUNCTION procrastinate_notify_queue_abort_job_v1()
RETURNS trigger
    LANGUAGE plpgsql
AS $$
DECLARE
    payload TEXT;
BEGIN
    SELECT json_build_object('type', 'abort_job_requested', 'job_id', NEW.id)::text INTO payload;
	PERFORM pg_notify('procrastinate_queue_v1#' || NEW.queue_name, payload);
	PERFORM pg_notify('procrastinate_any_queue_v1', payload);
	RETURN NEW;
END;
$$;

CREATE FUNCTION procrastinate_trigger_function_status_events_insert_v1()
    RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO procrastinate_events(job_id, type)
        VALUES (NEW.id, 'deferred'::procrastinate_job_event_type);
	RETURN NEW;
END;
$$;

CREATE FUNCTION procrastinate_trigger_function_status_events_update_v1()
    RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    WITH t AS (
        SELECT CASE
            WHEN OLD.status = 'todo'::procrastinate_job_status
                AND NEW.status = 'doing'::procrastinate_job_status
                THEN 'started'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'todo'::procrastinate_job_status
                THEN 'deferred_for_retry'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'failed'::procrastinate_job_status
                THEN 'failed'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'succeeded'::procrastinate_job_status
                THEN 'succeeded'::procrastinate_job_event_type
            WHEN OLD.status = 'todo'::procrastinate_job_status
                AND (
                    NEW.status = 'cancelled'::procrastinate_job_status
                    OR NEW.status = 'failed'::procrastinate_job_status
                    OR NEW.status = 'succeeded'::procrastinate_job_status
                )
                THEN 'cancelled'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'aborted'::procrastinate_job_status
                THEN 'aborted'::procrastinate_job_event_type
            WHEN OLD.status = 'failed'::procrastinate_job_status
                AND NEW.status = 'todo'::procrastinate_job_status
                THEN 'retried'::procrastinate_job_event_type
            ELSE NULL
        END as event_type
    )
    INSERT INTO procrastinate_events(job_id, type)
        SELECT NEW.id, t.event_type
        FROM t
        WHERE t.event_type IS NOT NULL;
	RETURN NEW;
END;
$$;

CREATE FUNCTION procrastinate_trigger_function_scheduled_events_v1()
    RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO procrastinate_events(job_id, type, at)
        VALUES (NEW.id, 'scheduled'::procrastinate_job_event_type, NEW.scheduled_at);

	RETURN NEW;
END;
$$;

CREATE FUNCTION procrastinate_trigger_abort_requested_events_procedure_v1()
    RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO procrastinate_events(job_id, type)
        VALUES (NEW.id, 'abort_requested'::procrastinate_job_event_type);
    RETURN NEW;
END;
$$;

CREATE FUNCTION procrastinate_unlink_periodic_defers_v1()
    RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE procrastinate_periodic_defers
    SET job_id = NULL
    WHERE job_id = OLD.id;
    RETURN OLD;
END;
$$;

CREATE FUNCTION procrastinate_register_worker_v1()
    RETURNS TABLE(worker_id bigint)
    LANGUAGE plpgsql
AS $$
BEGIN
    RETURN QUERY
    INSERT INTO procrastinate_workers DEFAULT VALUES
    RETURNING procrastinate_workers.id;
END;
$$;

CREATE FUNCTION procrastinate_unregister_worker_v1(worker_id bigint)
    RETURNS void
    LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM procrastinate_workers
    WHERE id = worker_id;
END;
$$;

CREATE FUNCTION procrastinate_update_heartbeat_v1(worker_id bigint)
    RETURNS void
    LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE procrastinate_workers
    SET last_heartbeat = NOW()
    WHERE id = worker_id;
END;
$$;

CREATE FUNCTION procrastinate_prune_stalled_workers_v1(seconds_since_heartbeat float)
    RETURNS TABLE(worker_id bigint)
    LANGUAGE plpgsql
AS $$
BEGIN
    RETURN QUERY
    DELETE FROM procrastinate_workers
    WHERE last_heartbeat < NOW() - (seconds_since_heartbeat || 'SECOND')::INTERVAL
    RETURNING procrastinate_workers.id;
END;
$$;

-- Triggers

CREATE TRIGGER procrastinate_jobs_notify_queue_job_inserted_v1
    AFTER INSERT ON procrastinate_jobs
    FOR EACH ROW WHEN ((new.status = 'todo'::procrastinate_job_status))
    EXECUTE PROCEDURE procrastinate_notify_queue_job_inserted_v1();

CREATE TRIGGER procrastinate_jobs_notify_queue_job_aborted_v1
    AFTER UPDATE OF abort_requested ON procrastinate_jobs
    FOR EACH ROW WHEN ((old.abort_requested = false AND new.abort_requested = true AND new.status = 'doing'::procrastinate_job_status))
    EXECUTE PROCEDURE procrastinate_notify_queue_abort_job_v1();

CREATE TRIGGER procrastinate_trigger_status_events_update_v1
    AFTER UPDATE OF status ON procrastinate_jobs
    FOR EACH ROW
    EXECUTE PROCEDURE procrastinate_trigger_function_status_events_update_v1();

CREATE TRIGGER procrastinate_trigger_status_events_insert_v1
    AFTER INSERT ON procrastinate_jobs
    FOR EACH ROW WHEN ((new.status = 'todo'::procrastinate_job_status))
    EXECUTE PROCEDURE procrastinate_trigger_function_status_events_insert_v1();

CREATE TRIGGER procrastinate_trigger_scheduled_events_v1
    AFTER UPDATE OR INSERT ON procrastinate_jobs
    FOR EACH ROW WHEN ((new.scheduled_at IS NOT NULL AND new.status = 'todo'::procrastinate_job_status))
    EXECUTE PROCEDURE procrastinate_trigger_function_scheduled_events_v1();

CREATE TRIGGER procrastinate_trigger_abort_requested_events_v1
    AFTER UPDATE OF abort_requested ON procrastinate_jobs
    FOR EACH ROW WHEN ((new.abort_requested = true))
    EXECUTE PROCEDURE procrastinate_trigger_abort_requested_events_procedure_v1();

CREATE TRIGGER procrastinate_trigger_delete_jobs_v1
    BEFORE DELETE ON procrastinate_jobs
    FOR EACH ROW EXECUTE PROCEDURE procrastinate_unlink_periodic_defers_v1();

-- --- ours ------------------------------------------------------------------------------

-- They find their tables whatever the path of the session is.
DO $$
DECLARE
    found regprocedure;
BEGIN
    FOR found IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'looseleaf_jobs'::regnamespace LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = looseleaf_jobs, pg_temp', found);
    END LOOP;
END $$;

-- Whether a job's memory has another one before it is asked for each job that is taken.
CREATE INDEX jobs_of_memory ON looseleaf_jobs.procrastinate_jobs (lock, priority DESC, id)
    WHERE status = ANY (ARRAY['todo'::looseleaf_jobs.procrastinate_job_status, 'doing'::looseleaf_jobs.procrastinate_job_status]);

-- The lock of a job is its memory's number.

-- Rows come and go all the time, however few there are. Vacuum often, so that no query wades through dead ones.
ALTER TABLE looseleaf_jobs.procrastinate_jobs SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000);
ALTER TABLE looseleaf_jobs.procrastinate_events SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Without this, any number of jobs could wait for a memory, and each search for the next one would pass over them all.
ALTER TABLE looseleaf_jobs.procrastinate_jobs
    ADD CONSTRAINT waits_once CHECK (lock IS NULL OR queueing_lock IS NOT NULL);

-- Talk that is not distilled yet, by agent, and when it is due. The first record notes it, in its own transaction;
-- `streams.is_due` spares the later ones a look. A distillation takes both away before it reads the log.
CREATE TABLE looseleaf_jobs.talk (
    memory bigint NOT NULL,
    agent text COLLATE "C" NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    due timestamptz NOT NULL,
    PRIMARY KEY (memory, agent)
);
CREATE INDEX talk_due ON looseleaf_jobs.talk (due);

-- Note that a stream has talk. No trigger does it: one that looks at each change of a stream costs a fifth of a record.
CREATE FUNCTION looseleaf_jobs.note_talk(m bigint, stream_name text) RETURNS void
LANGUAGE plpgsql SET search_path = looseleaf_jobs, pg_temp AS $$
BEGIN
    INSERT INTO talk (memory, agent, due) VALUES (m, substr(stream_name, 8), now() + interval '5 minutes')
    ON CONFLICT DO NOTHING;
    UPDATE looseleaf.streams s SET is_due = true WHERE s.memory = m AND s.name = stream_name;
END $$;

-- Begin to distill: what is recorded from here on is noted anew. First the stream, whose row a record locks until it is
-- there to be read; only then what it noted.
CREATE FUNCTION looseleaf_jobs.begin_distilling(m bigint, of_agent text) RETURNS void
LANGUAGE plpgsql SET search_path = looseleaf_jobs, pg_temp AS $$
BEGIN
    PERFORM FROM looseleaf.streams s WHERE s.memory = m AND s.name = 'traces/' || of_agent FOR UPDATE;
    UPDATE looseleaf.streams s SET is_due = false WHERE s.memory = m AND s.name = 'traces/' || of_agent AND s.is_due;
    DELETE FROM talk t WHERE t.memory = m AND t.agent = of_agent;
END $$;

-- Note talk that could not be distilled yet.
CREATE FUNCTION looseleaf_jobs.note_left(m bigint, of_agent text, after interval) RETURNS void
LANGUAGE plpgsql SET search_path = looseleaf_jobs, pg_temp AS $$
BEGIN
    UPDATE looseleaf.streams s SET is_due = true WHERE s.memory = m AND s.name = 'traces/' || of_agent AND NOT s.is_due;
    INSERT INTO talk AS t (memory, agent, due) VALUES (m, of_agent, now() + after)
    ON CONFLICT (memory, agent) DO UPDATE SET due = least(t.due, excluded.due);
END $$;

-- Have talk distilled that is due; return how many jobs that makes. It is asked for again while it stays noted: a job
-- that was cancelled is not the end of it. It asks whether memories are there, so it runs as the owner of the tables.
CREATE FUNCTION looseleaf_jobs.defer_due(most int) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = looseleaf_jobs, pg_temp AS $$
DECLARE
    deferred int;
BEGIN
    DELETE FROM talk t WHERE t.due <= now()
        AND NOT EXISTS (SELECT FROM looseleaf.memories k WHERE k.memory = t.memory AND k.state = 'here');
    WITH chosen AS MATERIALIZED (
        SELECT t.memory, t.agent FROM talk t WHERE t.due <= now() ORDER BY t.due LIMIT most FOR UPDATE SKIP LOCKED),
    later AS (
        UPDATE talk t SET due = now() + interval '15 minutes' FROM chosen c
        WHERE t.memory = c.memory AND t.agent = c.agent)
    INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args)
    SELECT 'distill', 'distill', c.memory::text, 'distill/' || c.memory || '/' || c.agent,
        jsonb_build_object('agent', c.agent)
    FROM chosen c
    ON CONFLICT (queueing_lock) WHERE status = 'todo' DO NOTHING;
    GET DIAGNOSTICS deferred = ROW_COUNT;
    RETURN deferred;
END $$;

-- End an attempt at a job that this worker (NULL: a dead one) has: it waits again from a time on, or (NULL) it failed.
-- Where the same job waits already, that one does the work. False: another worker has it by now.
CREATE FUNCTION looseleaf_jobs.give_back(job bigint, worker bigint, at timestamptz, is_attempt boolean) RETURNS boolean
LANGUAGE plpgsql SET search_path = looseleaf_jobs, pg_temp AS $$
DECLARE
    given procrastinate_jobs;
BEGIN
    UPDATE procrastinate_jobs j
    SET status = CASE WHEN at IS NULL THEN 'failed' ELSE 'todo' END::procrastinate_job_status, worker_id = NULL,
        scheduled_at = coalesce(at, j.scheduled_at), attempts = j.attempts + is_attempt::int,
        -- A later job of the memory need not wait for one that is tried again.
        priority = CASE WHEN is_attempt THEN -1 ELSE j.priority END, abort_requested = false
    WHERE j.id = job AND j.status = 'doing' AND j.worker_id IS NOT DISTINCT FROM worker
    RETURNING * INTO given;
    IF given.id IS NULL THEN
        RETURN false;
    END IF;
    IF at IS NULL AND given.queue_name = 'distill' THEN
        -- It took the note of the talk away.
        PERFORM set_config('looseleaf.memory', given.lock, true);
        PERFORM note_left(given.lock::bigint, given.args ->> 'agent', interval '1 hour');
    END IF;
    RETURN true;
EXCEPTION WHEN unique_violation THEN
    DELETE FROM procrastinate_jobs j
    WHERE j.id = job AND j.status = 'doing' AND j.worker_id IS NOT DISTINCT FROM worker;
    RETURN FOUND;
END $$;

-- Return jobs whose workers are gone, and those that this worker was given and does not have: the answer was lost.
CREATE FUNCTION looseleaf_jobs.return_lost(own bigint, running bigint[], silent interval, most int) RETURNS int
LANGUAGE plpgsql SET search_path = looseleaf_jobs, pg_temp AS $$
DECLARE
    found_job record;
    returned int := 0;
BEGIN
    DELETE FROM procrastinate_workers w WHERE w.id IN (
        SELECT x.id FROM procrastinate_workers x WHERE x.last_heartbeat < now() - silent FOR UPDATE SKIP LOCKED);
    FOR found_job IN
        SELECT j.id, j.worker_id, j.attempts FROM procrastinate_jobs j
        WHERE j.status = 'doing' AND (j.worker_id IS NULL OR (j.worker_id = own AND j.id <> ALL (running)))
        ORDER BY j.id FOR UPDATE SKIP LOCKED
    LOOP
        returned := returned + give_back(
            found_job.id, found_job.worker_id, CASE WHEN found_job.attempts + 1 < most THEN now() END, true)::int;
    END LOOP;
    RETURN returned;
END $$;

-- Lift jobs that waited too long: those that a person waits for go first only for so long.
CREATE FUNCTION looseleaf_jobs.lift(waited interval) RETURNS int
LANGUAGE plpgsql SET search_path = looseleaf_jobs, pg_temp AS $$
DECLARE
    lifted int;
BEGIN
    UPDATE procrastinate_jobs u SET priority = 1 WHERE u.id IN (
        SELECT j.id FROM procrastinate_jobs j
        JOIN procrastinate_events e ON e.job_id = j.id AND e.type = 'deferred' AND e.at < now() - waited
        WHERE j.status = 'todo' AND j.priority < 1 AND (j.scheduled_at IS NULL OR j.scheduled_at < now())
        ORDER BY j.id LIMIT 1000 FOR UPDATE OF j SKIP LOCKED);
    GET DIAGNOSTICS lifted = ROW_COUNT;
    RETURN lifted;
END $$;

-- Remove jobs that ended long ago.
CREATE FUNCTION looseleaf_jobs.remove_old(after interval) RETURNS void
LANGUAGE sql SET search_path = looseleaf_jobs, pg_temp AS $$
    DELETE FROM procrastinate_jobs u WHERE u.id IN (
        SELECT j.id FROM procrastinate_jobs j
        WHERE j.status IN ('succeeded', 'failed', 'cancelled', 'aborted') AND NOT EXISTS (
            SELECT FROM procrastinate_events e WHERE e.job_id = j.id AND e.at > now() - after)
        ORDER BY j.id LIMIT 1000 FOR UPDATE OF j SKIP LOCKED);
$$;
