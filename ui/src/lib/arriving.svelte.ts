// The way to the chart that the address names.
import { tick } from 'svelte';
import { place } from './place.svelte';

/** Goes to what the address names once it is drawn, and again with each click on a link to it. `drawn` says by another
    value that more was drawn. To be called while a component is made. */
export function arrive(drawn: () => unknown): void {
  /** The route that was arrived at: what is drawn later moves nobody away from where they have gone since. */
  let reached: unknown = null;

  const go = () => {
    const { at } = place.route.choices;
    const element = at ? document.getElementById(at) : null;
    if (!element) return;
    reached = place.route;
    element.scrollIntoView();
  };

  $effect(() => {
    const { route } = place;
    void drawn();
    tick().then(() => {
      if (route !== reached) go();
    });
  });

  $effect(() => {
    const again = (event: MouseEvent) => {
      // The browser itself goes nowhere with a link to where one is.
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      if (link?.href === location.href) go();
    };
    document.addEventListener('click', again);
    return () => document.removeEventListener('click', again);
  });
}
