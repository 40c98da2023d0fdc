// The route that the address holds now. Pages read their choices from it and write them to it.
import { formatRoute, parseRoute, type Route } from './route';

class Place {
  route = $state.raw<Route>(parseRoute(location.hash));

  constructor() {
    addEventListener('hashchange', () => (this.route = parseRoute(location.hash)));
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
  }

  /** A link to a part of the page as it is shown. */
  linkTo(at: string): string {
    return formatRoute({ ...this.route, choices: { ...this.route.choices, at } });
  }
}

export const place = new Place();
