"""What shows that an entry's code is right: its names exist, and DeepSpeed takes its configurations.

In the order in which an entry meets them:

- ``uses``: snippets → the names that they use of other packages, and their DeepSpeed configurations
- ``api``: a name → whether a release has it, read from the package's source
- ``probe``: the same of a package that is installed, and configurations → DeepSpeed's answer; this module
  runs in the environment that holds the packages, as a script
- ``record``: the answers, as snippets.json in the entry's folder

``python -m generator.code_evidence`` renews the records. ``checks.code`` compares snippets with them, and
needs none of the packages.
"""
