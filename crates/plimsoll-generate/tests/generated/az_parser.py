"""Reads calls of az, one a line, their words separated by U+001F, and tells those that az does not take.

A call is taken when it comes as far as wanting a login. Two extensions of az, elastic-san and k8s-extension, are in no
package registry: for their commands there is a table of what they take, after their sources in
github.com/Azure/azure-cli-extensions, and argparse, which is what az itself parses with.
"""

import argparse
import contextlib
import io
import re
import sys

SAID = io.StringIO()
COMMON = ["--output", "--query", "--subscription", "--only-show-errors"]
SAN = "--elastic-san-name"
GROUP = "--resource-group"
# What must be there, and what may be.
EXTENSIONS = {
    "elastic-san create": (
        [GROUP, "--name", "--base-size-tib", "--extended-capacity-size-tib", "--sku"],
        ["--location", "--tags", "--availability-zones", "--public-network-access", "--no-wait"],
    ),
    "elastic-san show": ([GROUP, "--name"], []),
    "elastic-san delete": ([GROUP, "--name"], ["--yes", "--no-wait"]),
    "elastic-san volume-group create": (
        [GROUP, SAN, "--name"],
        ["--protocol-type", "--network-acls", "--encryption", "--encryption-properties", "--identity", "--no-wait"],
    ),
    "elastic-san volume-group show": ([GROUP, SAN, "--name"], []),
    "elastic-san volume-group list": ([GROUP, SAN], []),
    "elastic-san volume-group delete": ([GROUP, SAN, "--name"], ["--yes", "--no-wait"]),
    "elastic-san volume create": (
        [GROUP, SAN, "--volume-group-name", "--name", "--size-gib"],
        ["--creation-data", "--no-wait"],
    ),
    "elastic-san volume show": ([GROUP, SAN, "--volume-group-name", "--name"], []),
    "elastic-san volume list": ([GROUP, SAN, "--volume-group-name"], []),
    "elastic-san volume delete": ([GROUP, SAN, "--volume-group-name", "--name"], ["--yes", "--no-wait", "--x-ms-delete-snapshots", "--x-ms-force-delete"]),
    "k8s-extension show": ([GROUP, "--cluster-name", "--cluster-type", "--name"], []),
}
# Letters and digits with single hyphens between them, which is what all of them take.
NAME = "[A-Za-z0-9]+(-[A-Za-z0-9]+)*"
SWITCHES = ["--yes", "--no-wait", "--only-show-errors"]
CHOICES = {
    "--x-ms-delete-snapshots": ["false", "true"],
    "--x-ms-force-delete": ["false", "true"],
    "--protocol-type": ["Iscsi", "None"],
    "--cluster-type": ["connectedClusters", "managedClusters"],
    "--public-network-access": ["Enabled", "Disabled"],
}


def by_table(words):
    """What is wrong with a call of an extension, or nothing."""
    command = next((name for name in sorted(EXTENSIONS, reverse=True) if words[: len(name.split())] == name.split()), None)
    if command is None:
        return "no such command"
    required, optional = EXTENSIONS[command]
    parser = argparse.ArgumentParser(prog="az " + command, allow_abbrev=False, add_help=False)
    for name in required + optional + COMMON:
        if name in SWITCHES:
            parser.add_argument(name, action="store_true")
        else:
            parser.add_argument(name, required=name in required, choices=CHOICES.get(name))
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            arguments = parser.parse_args(words[len(command.split()) :])
    except SystemExit:
        return said.getvalue()
    for name in ("name", "elastic_san_name", "volume_group_name"):
        value = getattr(arguments, name, None)
        is_of_san = name == "elastic_san_name" or command.count(" ") == 1 and words[0] == "elastic-san"
        if value is not None and not (re.fullmatch(NAME, value) and 3 <= len(value) <= (24 if is_of_san else 63)):
            return f"{name}: {value} is no name"
    return shorthand_problem(vars(arguments))


def shorthand_problem(arguments):
    """What is wrong with values that az reads as objects in its own short form."""
    from azure.cli.core.aaz._utils import AAZShortHandSyntaxParser

    for name in ("sku", "network_acls", "tags"):
        text = arguments.get(name)
        if text and text.startswith("{"):
            value = AAZShortHandSyntaxParser()(text)
            if not isinstance(value, dict) or not value:
                return f"{name}: {text} is no object"
    return None


def by_az(words):
    """What is wrong with a call of az itself, or nothing."""
    from azure.cli.core import get_default_cli

    # What az logs goes to where the first call of this process told it to, so there is one place for all.
    SAID.seek(0)
    SAID.truncate()
    try:
        with contextlib.redirect_stderr(SAID), contextlib.redirect_stdout(SAID):
            code = get_default_cli().invoke(words, out_file=SAID)
    except SystemExit as ending:
        code = ending.code
    text = SAID.getvalue()
    return None if code == 1 and "az login" in text else f"ended with {code}: {text}"


def main():
    count = 0
    for line in sys.stdin:
        words = line.rstrip("\n").split("\x1f")
        is_extended = words[0] in ("elastic-san", "k8s-extension")
        # These two ask nobody who is logged in, so that there is nothing to come as far as.
        if words[:2] == ["extension", "show"]:
            continue
        if words[:2] == ["extension", "add"]:
            assert words[2:] in (["--name", name, "--only-show-errors"] for name in ("elastic-san", "k8s-extension"))
            continue
        problem = by_table(words) if is_extended else by_az(words)
        count += 1
        if problem is not None:
            print("az", *words, "->", " ".join(problem.split()))
    print("checked", count)


main()
