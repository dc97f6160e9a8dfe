import { reference, type View } from "./views.ts";
import { type Page, type Visitor, visit, withPage } from "./visitor.ts";

/** Milliseconds from the navigation until the page's contents are painted, by view. */
export type ViewTimes = ReadonlyMap<string, number>;

export interface NavigationTimes {
  /** Each in a new browser context that has only the session. */
  readonly cold: ViewTimes;
  /** In one context that has visited all of them. */
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

/** Visits every page once, so that the server is warm too before the first round. */
export const warmUp = async (visitor: Visitor, views: readonly View[]): Promise<void> =>
  await withPage(visitor, async (page) => {
    for (const view of views) await visit(page, visitor.origin, view);
  });

/** The views take turns; each round begins with a different one. */
export const measureNavigation = async (
  visitor: Visitor,
  views: readonly View[],
  round: number,
): Promise<NavigationTimes> => {
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

/** The time of the reference page in the same round. */
export const referenceMs = (times: ViewTimes): number => times.get(reference.name) ?? Number.NaN;
