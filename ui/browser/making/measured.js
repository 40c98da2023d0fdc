// Makes records by measuring folders: short runs that have all that pages draw.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plimsoll } from './program.js';

const SIZE = ['--size', '32m'];

/** Three loads, of which each has other operations, sizes and depths. */
const PLAN = `
[defaults]
duration = "200ms"
size = "32m"
[[workload]]
rw = "randread"
[[workload]]
rw = "randwrite"
queue_depth = 4
[[workload]]
rw = "randrw"
block_size = "16k"
`;

/** How many runs of the same load there are. */
export const NIGHTS = 5;

/** Measures, and answers the names of the runs in a history. The folder is where everything goes. */
export async function measure(folder, history) {
  const run = async (name, targets, ...words) => {
    await plimsoll(folder, 'run', ...targets, '--history', history, '--quiet', '--name', name, ...words);
    return name;
  };
  const [one, other] = ['disk-a', 'disk-b'];
  await mkdir(join(folder, one));
  await mkdir(join(folder, other));
  await writeFile(join(folder, 'plan.toml'), PLAN);

  const jobs = await run('four jobs', [one], '--rw', 'randread', '--jobs', '4', '--duration', '3s', ...SIZE);
  const sides = await run('two disks', [one, other], '--plan', 'plan.toml', '--passes', '5', '--tag', 'room=cellar');
  const grid = ['--block-size', '4k,16k,64k', '--queue-depth', '1,4,16'];
  const sweep = await run('grid', [one], '--rw', 'randread', ...grid, '--duration', '200ms', ...SIZE);
  const set = ['--phases', 'write,read', '--file-size', '10k', '--file-count', '50', '--iterations', '3'];
  const files = await run('small files', [one, other], ...set, '--duration', '1s');
  const times = ['--iterations', '5', '--settle', '0'];
  const application = await run('a command', [one, other], '--command', 'sleep 0.05', ...times);
  const nights = [];
  for (let night = 1; night <= NIGHTS; night += 1) {
    const load = ['--rw', 'randread', '--passes', '6', '--duration', '100ms', ...SIZE];
    nights.push(await run(`night ${night}`, [one], ...load));
  }
  return { jobs, sides, sweep, files, application, nights };
}
