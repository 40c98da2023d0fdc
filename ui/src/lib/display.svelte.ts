// How the page is shown right now: which theme, and whether it is being printed. Charts follow it.
import { flushSync } from 'svelte';
import { SERIES_COUNT, TOKEN_NAMES, type Tokens } from './theme';

export type ThemeChoice = 'system' | 'light' | 'dark';

/** Reads the colours that hold now. */
function readTokens(): Tokens {
  const style = getComputedStyle(document.documentElement);
  const entries = TOKEN_NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]);
  return Object.fromEntries(entries) as Tokens;
}

function readPalette(): string[] {
  const style = getComputedStyle(document.documentElement);
  return Array.from({ length: SERIES_COUNT }, (_, index) => style.getPropertyValue(`--series-${index + 1}`).trim());
}

class Display {
  choice = $state<ThemeChoice>('system');
  printing = $state(false);
  tokens = $state.raw<Tokens>(readTokens());
  palette = $state.raw<string[]>(readPalette());

  constructor() {
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#refresh());
    addEventListener('beforeprint', () => this.#print(true));
    addEventListener('afterprint', () => this.#print(false));
  }

  /** Shows the page in a theme. It is not kept: a report that is sent starts as its reader's system is. */
  choose(choice: ThemeChoice): void {
    this.choice = choice;
    if (choice === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    this.#refresh();
  }

  /** Where the reader was before other pages were put around. */
  #top = 0;

  #print(printing: boolean): void {
    if (printing) this.#top = scrollY;
    if (printing) document.documentElement.dataset.printing = '';
    else delete document.documentElement.dataset.printing;
    this.printing = printing;
    this.#refresh();
    // The browser takes its picture as soon as this returns.
    flushSync();
    if (!printing) this.#goBack();
  }

  /** Charts take a moment to be as high as they were. */
  #goBack(): void {
    const go = (frames: number) => {
      scrollTo(0, this.#top);
      if (frames > 0) requestAnimationFrame(() => go(frames - 1));
    };
    go(30);
  }

  #refresh(): void {
    this.tokens = readTokens();
    this.palette = readPalette();
  }
}

export const display = new Display();
