"""
Reports the steps of an Ansible run to the executor: plays, and below them each task on each host, as lines of the step file
(../step-file.ts has the format). Copied next to the variables of a build and loaded by ansible.cfg of this folder.

It writes names as they are in the playbook, before templating, and their outcome. Never variables, arguments, results or
messages: those may be secret. An error in here never stops the run.
"""
DOCUMENTATION = """
    name: gatehouse_steps
    type: aggregate
    short_description: steps of a build for its trace
    description:
      - Appends one line per beginning and end of each play, and of each task on each host, to the file named by GATEHOUSE_STEPS.
"""

import functools
import os
import re
import time

from ansible.plugins.callback import CallbackBase

LONGEST_NAME = 200


def harmless(hook):
    """An error of this plugin costs a step, not the run."""

    @functools.wraps(hook)
    def guarded(self, *args, **kwargs):
        try:
            hook(self, *args, **kwargs)
        except Exception:  # pylint: disable=broad-except
            pass

    return guarded


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "gatehouse_steps"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._file = open_steps(os.environ.get("GATEHOUSE_STEPS"))
        # Runs within a run write to the same file.
        self._prefix = os.urandom(4).hex()
        self._count = 0
        self._play = None
        self._play_failed = False
        self._running = {}

    @harmless
    def v2_playbook_on_play_start(self, play):
        self._end_play("-" if self._play_failed else "SUCCESS")
        source = getattr(play, "_ds", None) or {}
        hosts = source.get("hosts")
        name = source.get("name") or (", ".join(hosts) if isinstance(hosts, list) else hosts)
        self._play = self._begin("-", "play", name or "play")
        self._play_failed = False

    @harmless
    def v2_runner_on_start(self, host, task):
        source = getattr(task, "_ds", None)
        name = source.get("name") if isinstance(source, dict) else None
        module = str(task.action)
        facts = ["module=" + plain(module), "host=" + plain(host.get_name())]
        step = self._begin(self._play or "-", "task", name or module, facts)
        self._running[(host.get_name(), task._uuid)] = step

    @harmless
    def v2_runner_on_ok(self, result, **kwargs):
        self._end_task(result, "SUCCESS", "changed" if result.is_changed() else "ok")

    @harmless
    def v2_runner_on_skipped(self, result, **kwargs):
        self._end_task(result, "-", "skipped")

    @harmless
    def v2_runner_on_failed(self, result, ignore_errors=False, **kwargs):
        if ignore_errors:
            self._end_task(result, "-", "ignored")
        else:
            self._play_failed = True
            self._end_task(result, "FAILURE", "failed")

    @harmless
    def v2_runner_on_unreachable(self, result, **kwargs):
        self._play_failed = True
        self._end_task(result, "FAILURE", "unreachable")

    @harmless
    def v2_playbook_on_stats(self, stats):
        # A failure that the playbook rescued does not count for the play.
        lost = sum(stats.failures.values()) + sum(stats.dark.values())
        self._end_play("FAILURE" if lost > 0 and self._play_failed else "SUCCESS")

    def _begin(self, parent, kind, name, facts=()):
        self._count += 1
        step = "%s-%d" % (self._prefix, self._count)
        self._write(["begin", step, parent, kind, str(time.time_ns()), plain(name)] + list(facts))
        return step

    def _end_task(self, result, verdict, outcome):
        host = getattr(result, "host", None) or result._host
        task = getattr(result, "task", None) or result._task
        step = self._running.pop((host.get_name(), task._uuid), None)
        if step is not None:
            changed = "true" if result.is_changed() else "false"
            facts = ["changed=" + changed, "outcome=" + outcome]
            if outcome == "unreachable":
                # The line that has it otherwise may be one of those left out.
                facts.append("host=" + plain(host.get_name()))
            self._write(["end", step, str(time.time_ns()), verdict] + facts)

    def _end_play(self, verdict):
        if self._play is not None:
            self._write(["end", self._play, str(time.time_ns()), verdict])
        self._play = None

    def _write(self, fields):
        if self._file is not None:
            os.write(self._file, ("\t".join(fields) + "\n").encode("utf-8", "replace"))


def open_steps(path):
    """None: no file is named, or it is not a regular file."""
    if not path:
        return None
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o644)
    except OSError:
        return None


def plain(text):
    """One field of a line."""
    return re.sub(r"[\t\r\n]+", " ", str(text))[:LONGEST_NAME]
