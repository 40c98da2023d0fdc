# Arrays of the disks that prepare.sh has left blank: made when they are not there. They stay until
# `plimsoll stripe down` gives blank disks back.
"$PLIMSOLL" stripe up --plan "$here/plan.toml" >&2
