"""
Writes what each task of an Ansible run returned to `job-output.json` in the build's log directory, in the form of Zuul's file of that
name: a list with an object for each playbook of the build, in order. Copied next to the variables of a build and loaded by ansible.cfg of
this folder.

    [
    {"plays": [
    {"tasks": [
    {"task": {"name": "Look", "id": …, "duration": {"start": …, "end": …}}, "role": {…}, "hosts": {"web": {"changed": true, "rc": 0, …}}}
    ], "play": {"name": "Deploy", "id": …, "duration": {…}}}
    ], "playbook": "example.org/app/deploy.yaml", "phase": "run", "index": "0", "trusted": false, "branch": "main", "stats": {…}}
    ]

The file is whole JSON after every task, so it also has what ran of a playbook that was killed: what comes after the last task is written
anew with the next one. Where hosts do not wait for each other (`strategy: free`) a task has several entries with the same id.

Bounds: values of a result that is too long are left out one by one, never cut, for the executor masks whole secrets; tasks beyond the
bound of the file are counted in `gatehouse.left_out` of their playbook. An error in here never stops the run: the executor says in the
log that the file ends there, by a line of the step file (../step-file.ts).
"""
DOCUMENTATION = """
    name: gatehouse_json
    type: aggregate
    short_description: results of tasks as JSON
    description:
      - Appends the run to the file job-output.json in the directory named by ZUUL_LOG_DIR.
"""

import datetime
import functools
import json
import os

from ansible.plugins.callback import CallbackBase

FILE = "job-output.json"
# Of the whole file, without the lines that close its lists.
MOST_BYTES = 16777216
# Of the JSON of what a task returned on one host.
MOST_RESULT = 262144
# Values of a result above that bound, which stay in it.
MOST_VALUE = 4096
END = b"\n]\n"


def harmless(hook):
    """An error of this plugin ends the file, which stays as it is, and not the run."""

    @functools.wraps(hook)
    def guarded(self, *args, **kwargs):
        try:
            hook(self, *args, **kwargs)
        except Exception as error:  # pylint: disable=broad-except
            self._file = None
            if not self._is_lost:
                report(error)
            self._is_lost = True

    return guarded


class NotOurs(Exception):
    """The job wrote a file of that name."""


def report(error):
    """Other errors than those of the system may hold what a task returned, and are named without their text."""
    if isinstance(error, OSError):
        reason = error.strerror or "OSError"
    elif isinstance(error, NotOurs):
        reason = "the job wrote a file of that name"
    else:
        reason = type(error).__name__
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        steps = os.open(os.environ.get("GATEHOUSE_STEPS") or "", flags, 0o644)
        try:
            os.write(steps, ("lost\t%s\t%s\n" % (FILE, reason)).encode("utf-8", "replace"))
        finally:
            os.close(steps)
    except OSError:
        # Then nothing of the job can be reported.
        pass


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "gatehouse_json"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._file = None
        # Of the file: where the next task goes, and what follows there now.
        self._end = 0
        self._tail = b""
        self._playbook = None
        self._play = None
        self._task = None
        self._is_first = True
        self._is_lost = False
        self._left_out = 0
        self._started = {}

    @harmless
    def v2_playbook_on_play_start(self, play):
        if self._playbook is None:
            self._playbook = playbook_facts(play)
            if self._playbook is not None:
                self._open()
        if self._file is None:
            return
        self._flush()
        opening = b"" if self._play is None else closing(self._play) + b",\n"
        self._play = {"name": play.get_name(), "id": str(play._uuid), "duration": {"start": now()}}
        self._is_first = True
        self._write(opening + b'{"tasks": [\n')

    @harmless
    def v2_playbook_on_task_start(self, task, is_conditional=False):
        if self._file is None:
            return
        self._flush()
        self._started[str(task._uuid)] = now()
        self._task = self._entry(task)

    @harmless
    def v2_playbook_on_handler_task_start(self, task):
        self.v2_playbook_on_task_start(task)

    @harmless
    def v2_runner_on_ok(self, result, **kwargs):
        self._note(result)

    @harmless
    def v2_runner_on_failed(self, result, **kwargs):
        self._note(result, "failed")

    @harmless
    def v2_runner_on_skipped(self, result, **kwargs):
        self._note(result, "skipped")

    @harmless
    def v2_runner_on_unreachable(self, result, **kwargs):
        self._note(result, "unreachable")

    @harmless
    def v2_playbook_on_stats(self, stats):
        if self._file is None:
            return
        self._flush()
        self._playbook["stats"] = {host: stats.summarize(host) for host in sorted(stats.processed)}
        self._write(b"")
        os.close(self._file)
        self._file = None

    def _entry(self, task):
        started = self._started.get(str(task._uuid)) or now()
        entry = {"task": {"name": task.name, "id": str(task._uuid), "duration": {"start": started}}, "hosts": {}}
        role = task._role
        if role is not None:
            entry["role"] = {"name": role.get_name(), "id": str(role._uuid), "path": role._role_path}
        return entry

    def _note(self, result, outcome=None):
        if self._file is None:
            return
        host = getattr(result, "host", None) or result._host
        task = getattr(result, "task", None) or result._task
        found = getattr(result, "result", None)
        returned = dict(result._result if found is None else found)
        if outcome is not None:
            returned.setdefault(outcome, True)
        returned["action"] = str(task.action)
        if self._task is None or self._task["task"]["id"] != str(task._uuid):
            # Another host has gone on to a later task.
            self._flush()
            self._task = self._entry(task)
        self._task["hosts"][host.get_name()] = fitting(returned)
        self._task["task"]["duration"]["end"] = self._play["duration"]["end"] = now()

    def _flush(self):
        task, self._task = self._task, None
        # None of its hosts may have come back yet.
        if task is None or not task["hosts"]:
            return
        piece = (b"" if self._is_first else b",\n") + encoded(task)
        if self._end + len(piece) > MOST_BYTES:
            self._left_out += 1
            self._write(b"")
            return
        self._is_first = False
        self._write(piece)

    def _open(self):
        """Continues the file of the playbooks before, unless it is not what was written here."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(os.path.join(os.environ["ZUUL_LOG_DIR"], FILE), flags, 0o644)
        size = os.fstat(file).st_size
        if size > 0 and os.pread(file, len(END), max(0, size - len(END))) != END:
            os.close(file)
            raise NotOurs
        self._file = file
        self._end = max(0, size - len(END))
        self._tail = END if size > 0 else b""
        self._write(b'[\n{"plays": [\n' if size == 0 else b',\n{"plays": [\n')

    def _write(self, piece):
        tail = self._closing()
        try:
            write_whole(self._file, piece + tail, self._end)
        except OSError:
            # The disk is full: as it was, which needs no more room.
            write_whole(self._file, self._tail, self._end)
            os.ftruncate(self._file, self._end + len(self._tail))
            raise
        self._end += len(piece)
        self._tail = tail
        os.ftruncate(self._file, self._end + len(tail))

    def _closing(self):
        facts = dict(self._playbook)
        if self._left_out > 0:
            facts["gatehouse"] = {"left_out": self._left_out}
        ended = b"" if self._play is None else closing(self._play)
        return ended + b"\n], " + encoded(facts)[1:] + END


def closing(play):
    return b'\n], "play": ' + encoded(play) + b"}"


def playbook_facts(play):
    """None: a run within a run, which is not the executor's."""
    given = play.get_variable_manager().extra_vars
    name = given.get("zuul_execution_canonical_name_and_path")
    if name is None:
        return None
    return {
        "playbook": str(name),
        "phase": str(given.get("zuul_execution_phase")),
        "index": str(given.get("zuul_execution_phase_index")),
        "trusted": str(given.get("zuul_execution_trusted")) == "True",
        "branch": str(given.get("zuul_execution_branch")),
        "stats": {},
    }


def fitting(returned):
    """What a task returned on a host, as JSON has it, within the bounds."""
    size = len(encoded(returned))
    if size <= MOST_RESULT:
        return returned
    parts = {name: fitting_value(value) for name, value in returned.items()}
    return parts if len(encoded(parts)) <= MOST_RESULT else {"gatehouse_left_out": size, "action": returned["action"]}


def fitting_value(value):
    size = len(encoded(value))
    return value if size <= MOST_VALUE else "left out: %d bytes of JSON" % size


def encoded(value):
    # As people read it, so that what is to be masked is found.
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace")


def plain(value):
    """The same in what JSON has: Ansible's own types are texts, also as names."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items() if not str(name).startswith("_ansible_")}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each) for each in value]
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float) and value - value == 0:
        return value
    return str(value)


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def write_whole(file, data, at):
    view = memoryview(data)
    while len(view) > 0:
        written = os.pwrite(file, view, at)
        view = view[written:]
        at += written
