// The route that the address holds now. Pages read their choices from it and write them to it.
import { formatRoute, NO_FRAME, parseRoute, standIn, type Frame, type Route } from './route';

class Place {
  route = $state.raw<Route>(parseRoute(location.hash));

  /** The part of the address from `#` on. */
  hash = $state.raw(location.hash);
  #frameOf: (hash: string) => Frame = () => NO_FRAME;

  constructor() {
    addEventListener('hashchange', () => this.#read());
  }

  /** From here on an address leads to more than one report; `frameOf` says where the report stands in it. */
  widen(frameOf: (hash: string) => Frame): void {
    this.#frameOf = frameOf;
    this.#read();
  }

  /** Goes to an address without a step for the way back. */
  replace(hash: string): void {
    history.replaceState(null, '', hash);
    this.#read();
  }

  #read(): void {
    standIn(this.#frameOf(location.hash));
    this.hash = location.hash;
    this.route = parseRoute(location.hash);
  }

  /** What was chosen under a name; `otherwise` when nothing was. */
  choice(name: string, otherwise = ''): string {
    return this.route.choices[name] ?? otherwise;
  }

  /** Chooses something. `null` takes a choice back. The way back does not lead through every switch. */
  choose(name: string, value: string | null): void {
    const choices = { ...this.route.choices };
    // A link that is made from here on is to the view, and not to the chart that once was looked for.
    delete choices.at;
    if (value === null) delete choices[name];
    else choices[name] = value;
    this.route = { ...this.route, choices };
    history.replaceState(null, '', formatRoute(this.route));
    this.hash = location.hash;
  }

  /** A link to a part of the page as it is shown. */
  linkTo(at: string): string {
    return formatRoute({ ...this.route, choices: { ...this.route.choices, at } });
  }
}

export const place = new Place();
