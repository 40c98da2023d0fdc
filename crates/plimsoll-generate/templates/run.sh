#!/usr/bin/env bash
# Runs on the machine: measures the disks that prepare.sh has mounted, as the plan says, beside what was bought.
# Written by plimsoll generate.
set -euo pipefail

PLIMSOLL="${PLIMSOLL:-plimsoll}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

# ARRAYS
exec "$PLIMSOLL" run --plan "$here/plan.toml" --expect-mount "$@"
