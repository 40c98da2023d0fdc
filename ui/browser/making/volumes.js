// Makes a record of volumes of a cluster from one of folders: one volume that was used, and one that failed.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plimsoll } from './program.js';

/** Phases with the moments that end them, in seconds since the claim was sent: the class waits for a node. */
const LIFE = [
  ['create_ns', 'claim_accepted', 0.02, 0.02],
  ['schedule_ns', 'scheduled', 4.05, 4.1],
  ['provision_ns', 'provisioned', 3.6, 3.9],
  ['bind_ns', 'bound', 3.7, 4],
  ['attach_ns', 'attached', 12, 16.2],
  ['mount_ns', 'mounted', 2.5, 18.7],
  ['start_ns', 'started', 0.6, 19.3],
  ['first_io_ns', 'first_io', 0.1, 19.4],
  ['detach_ns', 'detached', 6, 40],
  ['delete_ns', 'volume_gone', 3, 44],
];

function volume(target, ends, failed) {
  const life = LIFE.slice(0, ends);
  const ns = (seconds) => Math.round(seconds * 1e9);
  return {
    target,
    claim: `claim-of-${target}`,
    volume: `pvc-of-${target}`,
    node: 'node-1',
    phases: Object.fromEntries(life.map(([phase, , length]) => [phase, ns(length)])),
    moments: life.map(([, what, , end]) => ({ what, seen_ns: ns(end), told_ns: null })),
    ...(failed ? { failed } : {}),
  };
}

/** Edits an exported record; the answer is where the new one is. */
export async function makeVolumes(folder, history, run) {
  const record = JSON.parse(await plimsoll(folder, 'show', run, '--json', '--history', history));
  const [one, other] = record.asked.targets;
  record.volumes = [volume(one, LIFE.length), volume(other, 5, 'the node has no room for another volume')];
  const path = join(folder, 'volumes.json');
  await writeFile(path, JSON.stringify(record));
  return path;
}
