/** A small project for roles to work on, in several languages; each part is what one or two roles look for. */
export const WORK_PROJECT: { readonly [path: string]: string } = {
  'README.md': '# Work\n\nText.\n',
  Makefile: 'all:\n\ttrue\n',
  'bindep.txt': 'bash [here]\n',
  'constraints.txt': 'pycodestyle<3\n',
  'cover/index.html': '<p>covered</p>\n',
  'dist/work-1.0.tar.gz': 'a package\n',
  'doc/requirements.txt': 'sphinx\n',
  'doc/source/conf.py': "project = 'work'\n",
  'doc/source/index.rst': 'Work\n====\n\nText.\n',
  'go.mod': 'module example.org/work\n\ngo 1.19\n',
  'main.tf': 'output "word" {\n  value = "work"\n}\n',
  'markdownlint.txt': 'nothing found\n',
  'noxfile.py':
    "import nox\n\n\n@nox.session\ndef tests(session):\n    session.run('python', '-c', 'print(6 * 7)')\n",
  'package.json': JSON.stringify({
    name: 'work',
    version: '1.0.0',
    private: true,
    scripts: { build: 'node -e "console.log(6 * 7)"' },
  }),
  'pkg/work-1.0.tar.gz': 'a module\n',
  'pyproject.toml':
    '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "work"\nversion = "1.0"\n[tool.setuptools]\npy-modules = ["work"]\n',
  'releasenotes/source/conf.py': "project = 'notes'\n",
  'releasenotes/source/index.rst': 'Notes\n=====\n\nText.\n',
  'requirements.txt': 'pycodestyle\n',
  'setup.cfg': '[metadata]\nname = work\nversion = 1.0\n',
  'tools/test-setup.sh': '#!/bin/sh\necho ready\n',
  'tox.ini':
    '[tox]\nenvlist = tests\nskipsdist = true\n[testenv:tests]\ncommands = python -c "print(6 * 7)"\n',
  'translation-source/work.pot': 'msgid "work"\n',
  'work.py': 'ANSWER = 42\n',
};
