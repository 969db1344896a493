"""What Zuul's own loader says to cases of fixtures.ts: `PYTHON oracle.py SETTINGS KEY < cases > answers`.

PYTHON has Zuul installed; SETTINGS is a zuul.conf whose connections there are, KEY a private key in PEM that decrypts secrets. Each line of
input is a case, {tenantFile, projects: {NAME: {PATH: TEXT}}} with _ for each / of a name, each line of output its answer: {error} or {tenants: {NAME: {error} or
{errors, pipelines, jobs, graphs}}}. Nothing is contacted: repositories have the files of the case on their only branch, master, and what
Zuul would keep in ZooKeeper stays in memory.
"""
import collections
import configparser
import contextlib
import json
import logging
import sys
import tempfile
import warnings

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from zuul.configloader import ConfigLoader
from zuul.lib import encryption
from zuul.lib.ansible import AnsibleManager
from zuul.lib.connections import ConnectionRegistry
from zuul.model import Abide, Branch, ChangeQueue, QueueItem, SystemAttributes
from zuul.zk.components import COMPONENT_REGISTRY
from zuul.zk.zkobject import LocalZKContext

BRANCH = 'master'
LOG = logging.getLogger('oracle')


class Stored(dict):
    """Files of a branch that were read."""
    ltime = -1

    def isValidFor(self, *_):
        return False

    def setValidFor(self, *_):
        pass


class Cache:
    def __init__(self):
        self.files = collections.defaultdict(Stored)

    def getFilesCache(self, project, branch):
        return self.files[project, branch]

    def readLock(self, _project):
        return contextlib.nullcontext()

    writeLock = readLock


class Read:
    """A merger's answer."""
    updated = True

    def __init__(self, files):
        self.files = files

    def wait(self, _seconds):
        return True


class Merger:
    git_timeout = 1

    def __init__(self, projects):
        self.projects = projects

    def getFiles(self, _connection, project, _branch, files, dirs):
        roots = tuple(f'{each}/' for each in dirs)
        texts = self.projects.get(project.replace('/', '_'), {})
        ignored = tuple(path[:-len('.zuul.ignore')] for path in texts if path.endswith('/.zuul.ignore'))
        return Read({
            path: text for path, text in sorted(texts.items())
            if path in files or (path.startswith(roots) and path.endswith(('.yaml', '.yml'))
                                 and not path.startswith(ignored or ('\0',)))
        })


class Keys:
    def __init__(self, path):
        with open(path, 'rb') as file:
            self.pair = encryption.deserialize_rsa_keypair(file.read())

    def getProjectSecretsKeys(self, _connection, _project):
        return self.pair

    def getProjectSSHKeys(self, _connection, _project):
        return '', ''

    def getTenantSSHKeys(self, _tenant):
        return '', ''


class Time:
    """The only thing that the loader asks of ZooKeeper."""
    client = None

    def getCurrentLtime(self):
        return 1


class System:
    system_id = '0' * 32


class Change(Branch):
    """The head of a branch, with what a change in ZooKeeper has besides."""

    def __init__(self, project):
        super().__init__(project)
        self.branch = BRANCH
        self.cache_stat = type('Stat', (), {'key': type('Key', (), {'reference': f'{project.name} {BRANCH}'})()})()


class Connections(ConnectionRegistry):
    """Those of the settings, whose projects have one branch."""

    def __init__(self, settings):
        super().__init__()
        config = configparser.ConfigParser(interpolation=None)
        config.read(settings)
        for section in config.sections():
            for option, value in config.items(section):
                if option.endswith(('key', 'file')) and value.startswith('tests/'):
                    config.remove_option(section, option)
        self.configure(config, sources=True, triggers=True, reporters=True, providers=True)
        self.sources = {}

    def getSource(self, name):
        if name not in self.sources:
            source = super().getSource(name)
            source.getProjectBranches = lambda *_: [BRANCH]
            source.getProjectDefaultBranch = lambda *_: BRANCH
            source.getProjectMergeModes = lambda *_: None
            self.sources[name] = source
        return self.sources[name]


def place(error):
    context, mark = error.key.context, error.key.mark
    return {
        'severity': error.severity,
        'name': error.name,
        'text': error.short_error or error.error,
        'project': context and context.project_name,
        'path': context and context.path,
        'line': mark and mark.line + 1,
    }


def playbooks(found):
    return [each['path'] for each in found]


def frozen(job):
    return {
        'name': job.name,
        'voting': bool(job.voting),
        'attempts': job.attempts,
        'timeout': job.timeout,
        'postTimeout': job.post_timeout,
        'preRun': playbooks(job.pre_run),
        'run': playbooks(job.run),
        'postRun': playbooks(job.post_run),
        'vars': job.variables or {},
        'tags': sorted(job.tags),
        'dependencies': sorted(each.name for each in job.dependencies),
        'holdFollowingChanges': bool(job.hold_following_changes),
        'requiredProjects': sorted(each['project_name'] if isinstance(each, dict) else each.project_name
                                   for each in job.required_projects.values()),
    }


def graph(tenant, manager, project):
    """Of a change of master, whose files all matchers match; None: the project takes no part in the pipeline."""
    try:
        with LocalZKContext(LOG) as context:
            queue = ChangeQueue.new(context, manager=manager)
            change = Change(project)
            item = QueueItem.new(context, queue=queue, changes=[change])
            if tenant.layout.getProjectPipelineConfig(item, change) is None:
                return None
            item.freezeJobGraph(tenant.layout, context, None, skip_file_matcher=True, redact_secrets_and_keys=True)
            return {'jobs': [frozen(job) for job in item.current_build_set.job_graph.getJobs()]}
    except Exception as error:
        return {'error': str(error)}


def described(tenant):
    layout = tenant.layout
    graphs = {}
    for tpc in tenant.all_tpcs:
        project = tpc.project
        for name, manager in layout.pipeline_managers.items():
            found = graph(tenant, manager, project)
            if found is not None:
                graphs[f'{project.connection_name}/{project.name} {name}'] = found
    return {
        'errors': [place(error) for error in layout.loading_errors.errors],
        'pipelines': {name: manager.pipeline.manager_name for name, manager in layout.pipeline_managers.items()},
        'jobs': {name: len(variants) for name, variants in layout.jobs.items() if name != 'noop'},
        'graphs': graphs,
    }


def loaded(loader, text):
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
        file.write(text)
        file.flush()
        unparsed = loader.readConfig(file.name)
    abide = Abide()
    loader.loadAuthzRules(abide, unparsed)
    loader.loadSemaphores(abide, unparsed)
    loader.loadTPCs(abide, unparsed)
    tenants = {}
    for name in unparsed.tenants:
        try:
            tenants[name] = described(loader.loadTenant(abide, name, AnsibleManager(), unparsed))
        except Exception as error:
            tenants[name] = {'error': str(error) or repr(error)}
    return {'tenants': tenants}


def main():
    _, settings, key = sys.argv
    logging.disable(logging.CRITICAL)
    warnings.simplefilter('ignore')
    # Of the newest schedulers.
    COMPONENT_REGISTRY.registry = type('Registry', (), {'model_api': sys.maxsize})()
    trace.set_tracer_provider(TracerProvider())
    keys = Keys(key)
    for line in sys.stdin:
        case = json.loads(line)
        try:
            loader = ConfigLoader(Connections(settings), System(), Time(), SystemAttributes(), Cache(),
                                  merger=Merger(case['projects']), keystorage=keys)
            answer = loaded(loader, case['tenantFile'])
        except Exception as error:
            answer = {'error': str(error) or repr(error)}
        print(json.dumps(answer, default=str), flush=True)


main()
