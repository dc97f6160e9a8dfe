/** What a navigation waits for; page-marks.mjs detects it. */
export type MarkName = "signIn" | "figures" | "rows" | "result" | "report";

export interface View {
  /** Its name in the table. */
  readonly name: string;
  readonly path: string;
  readonly mark: MarkName;
}

const explorer = (name: string, search = ""): View => ({
  name: `the explorer's first rows, ${name}`,
  path: `/evaluations${search}`,
  mark: "rows",
});

/** A static page of the same server: the time that browser, machine and server need without a dashboard. */
export const reference: View = { name: "the sign-in page (the reference)", path: "/sign-in", mark: "signIn" };

export const everyResult = explorer("no filter");

export const explorerViews: readonly View[] = [
  everyResult,
  explorer("a common app", "?app=app-main"),
  explorer("a rare tag", "?tag=environment%3Dcanary"),
  explorer("fails only", "?verdict=fail"),
];

export const overview: View = { name: "the overview's figures", path: "/", mark: "figures" };

export const runPageName = "a run's page";
export const matrixName = "a run's samples";
const worstFirstName = "a run's samples, the lowest scores first";

export interface RunViews {
  readonly report: View;
  readonly matrix: View;
  readonly worstFirst: View;
}

/** The pages of one run. */
export const runViewsOf = (runId: string): RunViews => {
  const samples = `/runs/${runId}?tab=samples`;
  return {
    report: { name: runPageName, path: `/runs/${runId}`, mark: "report" },
    matrix: { name: matrixName, path: samples, mark: "rows" },
    worstFirst: { name: worstFirstName, path: `${samples}&sort=e1`, mark: "rows" },
  };
};

export const viewNames: readonly string[] = [
  ...[reference, overview, ...explorerViews].map(({ name }) => name),
  runPageName,
  matrixName,
  worstFirstName,
];

export const viewsOf = ({ report, matrix, worstFirst }: RunViews): readonly View[] => [
  reference,
  overview,
  ...explorerViews,
  report,
  matrix,
  worstFirst,
];
