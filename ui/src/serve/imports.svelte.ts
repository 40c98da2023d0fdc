// Files that are handed to the server, one after the other, and what became of each.
import { importFile } from './api';

export interface Import {
  key: number;
  name: string;
  state: 'waiting' | 'sending' | 'reading' | 'done' | 'refused';
  /** How much of it has left, from 0 to 1. */
  share: number;
  runs: string[];
  /** Those of them that were there before, and stay as they are. */
  known: string[];
  refusal: string;
}

class Imports {
  list = $state.raw<Import[]>([]);
  /** Becomes more with each file that was taken in. */
  taken = $state(0);
  #files = new Map<number, File>();
  #next = 0;
  #isBusy = false;

  get isBusy(): boolean {
    return this.list.some((each) => each.state !== 'done' && each.state !== 'refused');
  }

  add(files: Iterable<File>): void {
    for (const file of files) {
      const key = this.#next++;
      this.#files.set(key, file);
      this.list = [...this.list, { key, name: file.name, state: 'waiting', share: 0, runs: [], known: [], refusal: '' }];
    }
    void this.#work();
  }

  /** Forgets those that are over. */
  clear(): void {
    this.list = this.list.filter((each) => each.state !== 'done' && each.state !== 'refused');
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#files.entries().next(); !next.done; next = this.#files.entries().next()) {
      const [key, file] = next.value;
      this.#set(key, { state: 'sending' });
      try {
        const sent = (share: number) => this.#set(key, share < 1 ? { share } : { share, state: 'reading' });
        const { runs, known } = await importFile(file, sent);
        this.#set(key, { state: 'done', share: 1, runs, known });
        this.taken += 1;
      } catch (error) {
        this.#set(key, { state: 'refused', refusal: (error as Error).message });
      }
      this.#files.delete(key);
    }
    this.#isBusy = false;
  }

  #set(key: number, part: Partial<Import>): void {
    this.list = this.list.map((each) => (each.key === key ? { ...each, ...part } : each));
  }
}

export const imports = new Imports();
