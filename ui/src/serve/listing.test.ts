// What the list says of runs is what the server told of them.
import { describe, expect, it } from 'vitest';
import { sentenceOf, type ListedCell, type ListedRun } from './api';
import {
  bestBytes, bestIops, filterText, nameOf, pagingOf, readTags, tagLines, toggled, withPage, wordsOf,
} from './listing';

function cell(of: Partial<ListedCell>): ListedCell {
  return {
    target: 't', workload: 'w', read_iops: null, write_iops: null, all_iops: null, bytes_per_second: null,
    latency_mean_ns: null, latency_p99_ns: null, verdict: null, ...of,
  };
}

function run(cells: ListedCell[], name: string | null = null): ListedRun {
  return {
    id: 'id', short_id: 'i', started: '', elapsed_ns: 0, outcome: 'complete', name, tags: {}, targets: [], version: '',
    cells, baselines: [],
  };
}

describe('a run in the list', () => {
  it('has the best of its numbers', () => {
    const both = run([
      cell({ read_iops: 100, write_iops: 50, bytes_per_second: 10 }),
      cell({ all_iops: 120, bytes_per_second: 30 }),
      cell({}),
    ]);
    expect(bestIops(both)).toBe(150);
    expect(bestBytes(both)).toBe(30);
    expect(bestIops(run([cell({})]))).toBeNull();
    expect(bestBytes(run([]))).toBeNull();
  });

  it('counts its verdicts', () => {
    const words = wordsOf(run([cell({}), cell({ verdict: 'steady' }), cell({ verdict: 'steady' })]));
    expect(words).toEqual([
      { icon: '✓', word: 'steady', count: 2 },
      { icon: '?', word: 'no numbers', count: 1 },
    ]);
  });

  it('is called by its name, its workloads or its id', () => {
    expect(nameOf(run([cell({})], 'n'))).toBe('n');
    const many = ['a', 'a', 'b', 'c', 'd'].map((workload) => cell({ workload }));
    expect(nameOf(run(many))).toBe('a, b and 2 others');
    expect(nameOf(run([]))).toBe('id');
  });
});

describe('pages of the list', () => {
  it('begin and end', () => {
    expect(pagingOf(0, 1)).toEqual({ pages: 1, first: 0, last: 0 });
    expect(pagingOf(10_000, 100)).toEqual({ pages: 100, first: 9901, last: 10_000 });
    expect(pagingOf(101, 2)).toEqual({ pages: 2, first: 101, last: 101 });
    expect(pagingOf(101, 3)).toEqual({ pages: 2, first: 0, last: 0 });
  });

  it('keep what was chosen on others', () => {
    expect(toggled(['a', 'b'], 'a')).toEqual(['b']);
    expect(toggled(['a'], 'b')).toEqual(['a', 'b']);
    expect(withPage(['x', 'a'], ['a', 'b'], true)).toEqual(['x', 'a', 'b']);
    expect(withPage(['x', 'a'], ['a', 'b'], false)).toEqual(['x']);
  });
});

describe('the text of the filter', () => {
  it('keeps a blank after which one goes on, and follows the way back', () => {
    expect(filterText('night ', 'night')).toBe('night ');
    expect(filterText('night ', 'day')).toBe('day');
    expect(filterText('night', '')).toBe('');
  });
});

describe('tags', () => {
  it('survive being written and read', () => {
    const tags = { a: 'b=c', empty: '' };
    expect(readTags(tagLines(tags))).toEqual(tags);
    expect(readTags('\n  k = v \n\n')).toEqual({ k: 'v' });
    expect(readTags('')).toEqual({});
    expect(Object.entries(readTags('__proto__=x'))).toEqual([['__proto__', 'x']]);
  });

  it('are refused with a sentence', () => {
    for (const text of ['nothing', '=v', ' =v', 'k=1\nk=2']) expect(readTags(text)).toBeTypeOf('string');
  });
});

describe('refusals', () => {
  it('say what the server says', () => {
    expect(sentenceOf(403, '{"error":"this server is read-only"}')).toBe('this server is read-only');
    expect(sentenceOf(502, '<html>')).toBe('The server refused: 502.');
    expect(sentenceOf(500, '{"error":{}}')).toBe('The server refused: 500.');
  });
});
