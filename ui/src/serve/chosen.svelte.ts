// The runs that were chosen for a report, over all pages of the list, in the order in which they were chosen.

class Chosen {
  runs = $state.raw<string[]>([]);
}

export const chosen = new Chosen();
