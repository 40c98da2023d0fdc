"""Stands in for `az ... show --query ...` and `az resource list --query ...` of what is there: what it was made with, as
az shows it, and of that what is asked for in az's own query language. What made it stands in the file "made", a call on a line."""

import os
import re
import sys

import jmespath

# Sizes of Premium SSDs in GiB.
TIERS = {4: "P1", 8: "P2", 16: "P3", 32: "P4", 64: "P6", 128: "P10", 256: "P15", 512: "P20", 1024: "P30", 2048: "P40"}


def parts(words):
    """The command of a call, and its options, each with its values."""
    first = next((at for at, word in enumerate(words) if word.startswith("--")), len(words))
    options, name = {}, None
    for word in words[first:]:
        if word.startswith("--"):
            name = word
            options[name] = []
        else:
            options[name].append(word)
    return words[:first], options


def tags_of(options):
    """The tags that something is made with."""
    name, value = re.match(r"\{?([^=:]+)[=:]([^}]+)", options["--tags"][0]).groups()
    return {name: value}


def attached(calls):
    """Which machine each disk was attached to."""
    options = [parts(call)[1] for call in calls if call[:3] == ["vm", "disk", "attach"]]
    return [(disk["--vm-name"][0], disk["--name"][0]) for disk in options]


def told(value):
    """Prints it as az does in lines."""
    if value is not None:
        print(*value if isinstance(value, list) else [value], sep="\n")


def image(name):
    """What az shows of an image that was named so."""
    if "/" in name:
        return {"id": name}
    of = name.split(":") if ":" in name else ["Canonical", "in-full", "of-" + name, "latest"]
    return dict(zip(["publisher", "offer", "sku", "version"], of), exactVersion="24.04.1")


def shown(kind, asked, calls):
    """What az shows of a thing that was made so."""
    get = lambda name: asked[name][0] if name in asked else None
    listed = lambda name: [get(name)] if name in asked else None
    size = int(get("--size-gb") or 0)
    match kind:
        case ["group"]:
            return {"id": "/subscriptions/s/group", "location": get("--location"), "tags": tags_of(asked)}
        case ["disk"]:
            is_premium = get("--sku").startswith("Premium_")
            usual = next((tier for gib, tier in TIERS.items() if gib >= size), None)
            return {
                "sku": {"name": get("--sku")},
                "diskSizeGB": size,
                "zones": listed("--zone"),
                "diskIOPSReadWrite": int(get("--disk-iops-read-write") or 500),
                "diskMBpsReadWrite": int(get("--disk-mbps-read-write") or 60),
                "tier": get("--tier") or (usual if is_premium else None),
                "burstingEnabled": get("--enable-bursting") == "true" or None,
                "managedBy": next((f"/subscriptions/s/{vm}" for vm, disk in attached(calls) if disk == get("--name")), None),
                "creationData": {"performancePlus": get("--performance-plus") == "true" or None},
            }
        case ["vm"]:
            data_disks = [parts(call)[1] for call in calls if call[:3] == ["vm", "disk", "attach"]]
            return {
                "hardwareProfile": {"vmSize": get("--size")},
                "zones": listed("--zone"),
                "additionalCapabilities": {"ultraSSDEnabled": True} if "--ultra-ssd-enabled" in asked else None,
                "storageProfile": {
                    "osDisk": {"managedDisk": {"id": "/subscriptions/s/" + get("--os-disk-name")}},
                    "diskControllerType": get("--disk-controller-type"),
                    "imageReference": image(get("--image")),
                    "dataDisks": [
                        {"name": disk["--name"][0], "lun": lun, "caching": disk["--caching"][0]}
                        for lun, disk in enumerate(data_disks)
                    ]
                },
            }
        case ["network", "vnet", "subnet"]:
            updates = [parts(call)[1] for call in calls if call[:4] == ["network", "vnet", "subnet", "update"]]
            names = [name for options in [asked, *updates] for name in options.get("--service-endpoints", [])]
            return {"id": "/subscriptions/s/subnet", "serviceEndpoints": [{"service": name} for name in names] or None}
        case ["elastic-san"]:
            return {"baseSizeTiB": int(get("--base-size-tib")), "availabilityZones": listed("--availability-zones")}
        case ["elastic-san", "volume"]:
            return {"sizeGiB": int(get("--size-gib"))}
        case ["aks"]:
            version = get("--kubernetes-version")
            pool = {
                "count": int(get("--node-count")),
                "vmSize": get("--node-vm-size"),
                "availabilityZones": listed("--zones"),
                "enableUltraSsd": "--enable-ultra-ssd" in asked,
            }
            updates = [parts(call)[1] for call in calls if call[:2] == ["aks", "update"]]
            tags = [options for options in [asked, *updates] if "--tags" in options][-1]["--tags"]
            return {
                "nodeResourceGroup": "MC_nodes",
                "agentPoolProfiles": [pool],
                "kubernetesVersion": version and version + ".2",
                "tags": dict(tag.split("=") for tag in tags),
            }


# What a group lists its parts as.
TYPES = {
    "vm": "Microsoft.Compute/virtualMachines",
    "disk": "Microsoft.Compute/disks",
    "elastic-san": "Microsoft.ElasticSan/elasticSans",
    "aks": "Microsoft.ContainerService/managedClusters",
}


def listed(calls):
    """All that was made, as a group lists it."""
    for call in calls:
        kind, options = parts(call)
        if kind[1:] == ["create"] and kind[0] in TYPES:
            name = options["--name"][0]
            yield {"id": "/subscriptions/s/" + name, "name": name, "type": TYPES[kind[0]], "tags": tags_of(options)}
            if kind == ["vm", "create"]:
                name += "_system"
                updates = [parts(other)[1] for other in calls if other[:2] == ["tag", "update"]]
                tags = [tags_of(update) for update in updates if update["--resource-id"][0].endswith("/" + name)]
                yield {"id": "/subscriptions/s/" + name, "name": name, "type": TYPES["disk"], "tags": (tags or [None])[0]}


def main():
    command, asked = parts(sys.argv[1:])
    with open(os.environ["PLACE"] + "/made", "a+", encoding="utf-8") as made:
        made.seek(0)
        calls = [line.rstrip("\n").split("\x1f")[1:] for line in made]
    if command == ["resource", "list"]:
        if asked["--resource-group"] == ["MC_nodes"]:
            has_san = any(call[:2] == ["aks", "update"] and "elasticSan" in call for call in calls)
            of_group = [{"name": "nodes-san", "type": TYPES["elastic-san"], "tags": None}] if has_san else []
        else:
            of_group = list(listed(calls))
        kind = asked.get("--resource-type")
        told(jmespath.search(asked["--query"][0], [one for one in of_group if kind is None or kind == [one["type"]]]))
        return
    for call in calls:
        kind, options = parts(call)
        if kind == [*command[:-1], "create"] and options["--name"] == asked["--name"]:
            told(jmespath.search(asked["--query"][0], shown(kind[:-1], options, calls)) if "--query" in asked else None)
            return
    if "--query" not in asked:
        sys.exit(3)
    sys.exit("nothing of this name was made: " + " ".join(sys.argv[1:]))


main()
