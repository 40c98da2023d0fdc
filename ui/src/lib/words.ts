// Icons for the words that judge numbers. An icon always stands beside its word, and never says more than it.

const ICONS: Record<string, string> = {
  steady: '✓',
  burst: '▲',
  drifting: '▲',
  unstable: '▲',
  cached: '▲',
  'client-limited': '▲',
  short: '?',
};

export type Tone = 'good' | 'warning' | 'muted';

/** The icon of a verdict; `?` for whatever is no claim. */
export function wordIcon(word: string): string {
  return ICONS[word] ?? '?';
}

export function wordTone(word: string): Tone {
  const icon = wordIcon(word);
  return icon === '✓' ? 'good' : icon === '▲' ? 'warning' : 'muted';
}

/** `1 run`, `2 runs`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}

/** A list in a sentence: `a, b and c`. */
export function listed(words: string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
}
