"""Which files hold secrets: one policy for read, grep, the shell and `@file`.

Invariant: the answer depends on the path alone, so a rule that holds for one door holds for all.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase

_NAMES = (
    ".env",
    ".env.*",
    ".envrc",
    "*.env",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".htpasswd",
    ".dockercfg",
    ".vault-token",
    ".terraformrc",
    "service-account*.json",
    "client_secret*.json",
)
_HARMLESS = re.compile(
    r"\.env\.(example|sample|template|dist|defaults?|schema)\Z|(example|sample|template)\.env\Z"
)
_HOME_FOLDERS = (
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".oci",
    ".password-store",
    ".config/gcloud",
    ".config/gh",
    ".config/op",
    ".config/rclone",
    ".local/share/keyrings",
    "Library/Keychains",
)
_PLACES = re.compile(
    r"/proc(/(?!(cpuinfo|meminfo|version|loadavg|uptime|stat|filesystems|swaps|vmstat|sys/[\w/.-]+)\Z).*|\Z)"
    r"|/dev/fd(/(?!\d+\Z).*|\Z)|/etc/(g?shadow|sudoers)(-|\.d|/|\Z)|/deeptide/auth[^/]*\Z"
)
_DOT_SAMPLES = (".env", ".env.local", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials")
SECRET_VARIABLE = re.compile(
    r"\$\{?!?\w*(KEY|TOKEN|SECRET|PASSW|CREDENTIAL|DEEPSEEK_|DEEPTIDE_)\w*", re.IGNORECASE
)
"""A shell expansion of a variable that probably holds a secret."""


def guarded(path: str, home: str) -> bool:
    """Whether the file at the absolute `path` (or a pattern of paths) may hold secrets."""
    name = os.path.basename(path)
    if _HARMLESS.search(name):
        return False
    if any(fnmatchcase(name.lower(), pattern) for pattern in _NAMES):
        return True
    if name.startswith(".") and any(fnmatchcase(sample, name) for sample in _DOT_SAMPLES):
        return True
    if any(path == f"{home}/{folder}" or path.startswith(f"{home}/{folder}/") for folder in _HOME_FOLDERS):
        return True
    return _PLACES.search(path) is not None
