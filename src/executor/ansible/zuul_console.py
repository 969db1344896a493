"""
Zuul's module zuul_console: there it starts a daemon on a node, from which the executor reads what commands print. Here the results of
tasks say it, so that there is nothing to start; roles and base jobs that call it find it. Copied next to the variables of a build and found
by ansible.cfg of this folder. It takes the arguments of Zuul's.
"""
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

ARGUMENTS = frozenset(("path", "port", "state"))


class ActionModule(ActionBase):
    TRANSFERS_FILES = False

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        unknown = sorted(set(self._task.args) - ARGUMENTS)
        if unknown:
            raise AnsibleActionFail("zuul_console has no argument " + ", ".join(unknown))
        result["changed"] = False
        result["msg"] = "nothing to start: what commands print comes with their results"
        return result
