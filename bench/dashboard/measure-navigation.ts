import { reference, type View, views } from "./views.ts";
import { type Page, type Visitor, visit, withPage } from "./visitor.ts";

/** Milliseconds from the navigation until the page's contents had been painted, by the view's name. */
export type ViewTimes = ReadonlyMap<string, number>;

export interface NavigationTimes {
  /** Each in a browser context of its own, which has nothing but the session. */
  readonly cold: ViewTimes;
  /** In one context that has been to all of them. */
  readonly warm: ViewTimes;
}

const measureEach = async (
  turns: readonly View[],
  measure: (view: View) => Promise<number>,
): Promise<ViewTimes> => {
  const times = new Map<string, number>();
  for (const view of turns) times.set(view.name, await measure(view));
  return times;
};

/** Once to every page, so that the server too is through with its beginnings before the first round. */
export const warmUp = async (visitor: Visitor): Promise<void> =>
  await withPage(visitor, async (page) => {
    for (const view of views) await visit(page, visitor.origin, view);
  });

/** The views take turns and begin with another one in each round. */
export const measureNavigation = async (visitor: Visitor, round: number): Promise<NavigationTimes> => {
  const first = round % views.length;
  const turns = [...views.slice(first), ...views.slice(0, first)];
  const visitWith = (page: Page) => (view: View) => visit(page, visitor.origin, view);
  const cold = await measureEach(turns, (view) => withPage(visitor, (page) => visitWith(page)(view)));
  const warm = await withPage(visitor, async (page) => {
    await measureEach(turns, visitWith(page));
    return await measureEach(turns, visitWith(page));
  });
  return { cold, warm };
};

/** What the browser, the server and the machine took in the same round. */
export const referenceMs = (times: ViewTimes): number => times.get(reference.name) ?? Number.NaN;
