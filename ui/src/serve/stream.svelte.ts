// What the server tells as it happens: runs that are going on, and that the history has changed. It is listened to
// only while the page can be seen, because a server that nobody listens to leaves the machine to what is measured.
import { ask, LIVE } from './api';
import { heard, type FollowedRuns, type LiveRun } from './live';

/** Milliseconds between two changes of what is shown, and before a server that went is asked again. */
const EVERY = 500;
const AGAIN = 2000;

export type State = 'connecting' | 'connected' | 'reconnecting' | 'paused';

class Stream {
  state = $state<State>('connecting');
  runs = $state.raw<FollowedRuns>({});
  /** Becomes more whenever the history may have changed. */
  changes = $state(0);
  /** Why the server tells nothing, in its words. */
  refusal = $state('');
  /** Whether it was told what is going on. */
  isTold = $state(false);
  /** The run that is looked at. */
  shown: string | null = null;
  #source: EventSource | null = null;
  #again = 0;
  #waiting = 0;
  #lastAt = 0;
  #newest: LiveRun[] | null = null;

  /** Begins to listen; what is returned ends it. */
  listen(): () => void {
    const look = () => (document.hidden ? this.#pause() : this.#open());
    document.addEventListener('visibilitychange', look);
    look();
    return () => {
      document.removeEventListener('visibilitychange', look);
      this.#pause();
    };
  }

  #open(): void {
    if (this.#source) return;
    clearTimeout(this.#again);
    const source = new EventSource('/api/events');
    this.#source = source;
    source.onopen = () => {
      this.state = 'connected';
      this.refusal = '';
    };
    source.onerror = () => {
      this.state = 'reconnecting';
      // Browsers ask again by themselves, but not after every kind of answer.
      if (source.readyState !== EventSource.CLOSED) return;
      this.#close();
      // The events themselves do not say why there are none.
      ask(LIVE).then(
        () => (this.refusal = ''),
        (error: Error) => (this.refusal = error.message),
      );
      this.#again = window.setTimeout(() => this.#open(), AGAIN);
    };
    source.addEventListener('live', (event) => {
      const told = read<{ runs: LiveRun[] }>(event.data as string);
      if (told) this.#take(told.runs);
    });
    source.addEventListener('runs', () => (this.changes += 1));
  }

  #take(runs: LiveRun[]): void {
    this.#newest = runs;
    if (this.#waiting) return;
    const wait = Math.max(0, EVERY - (Date.now() - this.#lastAt));
    this.#waiting = window.setTimeout(() => {
      this.#waiting = 0;
      this.#lastAt = Date.now();
      if (!this.#newest) return;
      this.runs = heard(this.runs, this.#newest, this.shown);
      this.isTold = true;
      this.#newest = null;
    }, wait);
  }

  #close(): void {
    this.#source?.close();
    this.#source = null;
  }

  #pause(): void {
    clearTimeout(this.#again);
    this.#close();
    this.state = 'paused';
  }
}

function read<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

export const stream = new Stream();
