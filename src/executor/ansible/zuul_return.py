"""
Zuul's action zuul_return: returns data of a job to the service. Copied next to the variables of a build and found by ansible.cfg of
this folder. Appends one line of JSON to the file named by GATEHOUSE_RETURN (../returned/parse-returned.ts has the format); the
executor merges the lines.

It takes data, file, secret_data and secret_file as Zuul's does; path is accepted and not used.
"""
import json
import os

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

ARGUMENTS = frozenset(("data", "file", "secret_data", "secret_file", "path"))
MEMBERS = (("data", "data"), ("file", "data"), ("secret_data", "secret_data"), ("secret_file", "secret_data"))


class ActionModule(ActionBase):
    TRANSFERS_FILES = False

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        args = self._task.args
        unknown = sorted(set(args) - ARGUMENTS)
        if unknown:
            raise AnsibleActionFail("zuul_return has no argument " + ", ".join(unknown))
        place = os.environ.get("GATEHOUSE_RETURN")
        if not place:
            raise AnsibleActionFail("zuul_return works in jobs only")
        lines = []
        for name, member in MEMBERS:
            given = args.get(name)
            if given is None or given == "":
                continue
            value = load(given) if name.endswith("file") else given
            check(value)
            lines.append(json.dumps({member: value}, default=str) + "\n")
        with open(place, "a", encoding="utf-8") as results:
            results.write("".join(lines))
        result["changed"] = False
        return result


def load(path):
    try:
        with open(path, encoding="utf-8") as source:
            return json.load(source)
    except (OSError, ValueError):
        # The text may be secret: no part of it is shown.
        raise AnsibleActionFail("zuul_return cannot read JSON from %s" % path) from None


def check(data):
    """Of what Zuul defines itself, as Zuul checks it."""
    if not isinstance(data, dict):
        raise AnsibleActionFail("zuul_return takes data that is a dictionary")
    zuul = data.get("zuul", {})
    if not isinstance(zuul, dict):
        raise AnsibleActionFail("zuul_return: zuul is not a dictionary")
    if not isinstance(zuul.get("log_url", ""), str):
        raise AnsibleActionFail("zuul_return: zuul.log_url is not a string")
    artifacts = zuul.get("artifacts", [])
    if not isinstance(artifacts, list) or not all(is_artifact(each) for each in artifacts):
        raise AnsibleActionFail("zuul_return: zuul.artifacts is not a list of name, url and, if any, metadata")
    warnings = zuul.get("warnings", [])
    if not isinstance(warnings, list) or not all(isinstance(each, str) for each in warnings):
        raise AnsibleActionFail("zuul_return: zuul.warnings is not a list of strings")


def is_artifact(value):
    return (
        isinstance(value, dict)
        and set(value) <= {"name", "url", "metadata"}
        and isinstance(value.get("name"), str)
        and isinstance(value.get("url"), str)
        and isinstance(value.get("metadata", {}), dict)
    )
