interface Page {
  getByRole(
    role: "definition" | "figure" | "link" | "list" | "listitem" | "main" | "navigation" | "region" | "row",
    options?: { name?: string | RegExp; exact?: boolean },
  ): Locator;
  getByText(text: string | RegExp): Locator;
}

/** The common part of the tests' pages and Playwright's. */
interface Locator extends Page {
  locator(selector: string): Locator;
  filter(filter: { hasText: string | RegExp }): Locator;
  first(): Locator;
  click(): Promise<void>;
  waitFor(): Promise<void>;
}

/** A question that people have, and how the dashboard answers it, starting from the overview. */
export interface Question {
  question: string;
  /** The elements to click, in order. */
  clicks: ((page: Page) => Locator)[];
  /** The text or figure that answers it. */
  answer(page: Page): Locator;
}

/** The questions about the newest of two runs on a dataset, with a goal and a price. */
export function tenQuestions(dataset: string): Question[] {
  const row = (page: Page) =>
    page
      .getByRole("region", { name: "Latest runs" })
      .locator("tbody")
      .filter({ hasText: dataset })
      .locator("tr + tr")
      .first();
  const run = (page: Page) => row(page).getByRole("link").first();
  const entry = (name: string) => (page: Page) =>
    page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true });
  const tab = (section: string, name: string) => (page: Page) =>
    page.getByRole("navigation", { name: section }).getByRole("link", { name, exact: true });
  const spending = [entry("Settings"), tab("Settings", "People & spend")];
  return [
    {
      question: "Good enough?",
      clicks: [run],
      answer: (page) =>
        page.getByText(/^(Goal met|Goal missed|Undecided): exact-match passes [\d.]+\s% .*goal of [\d.]+\s%/),
    },
    {
      question: "Where does it fail?",
      clicks: [run],
      answer: (page) =>
        page
          .getByRole("figure", { name: "Worst trajectories" })
          .getByRole("row")
          .filter({ hasText: /[\d.]+\s%/ })
          .first(),
    },
    {
      question: "Which is better, and how sure?",
      clicks: [
        (page) =>
          row(page)
            .getByRole("link", { name: /points$/ })
            .locator("visible=true")
            .first(),
      ],
      answer: (page) =>
        page
          .getByRole("list", { name: "What the comparison says" })
          .getByRole("listitem")
          .filter({ hasText: /points of the mean score, 95\s% interval/ }),
    },
    {
      question: "What did the model see?",
      clicks: [entry("Log"), (page) => page.getByRole("main").locator("[data-row-link]").first()],
      answer: (page) => page.getByRole("region", { name: "Prompt" }).getByText("User turn"),
    },
    {
      question: "What did it cost?",
      clicks: spending,
      answer: (page) =>
        page
          .getByRole("definition")
          .filter({ hasText: /^€[\d,.]+/ })
          .first(),
    },
    {
      question: "Who used it?",
      clicks: spending,
      answer: (page) =>
        page
          .getByRole("region", { name: "Spending by person" })
          .getByRole("row", { name: "Owner" })
          .getByText(/€[\d,.]+/),
    },
    {
      question: "Is it safe to train in?",
      clicks: [
        (page) =>
          page
            .getByRole("list", { name: "Checked against reality" })
            .getByRole("link", { name: "Environment sandbox" }),
      ],
      answer: (page) =>
        page.getByText(/that succeeded in simulation, \d+ failed in reality: [\d.]+\s% \(95\s% interval /),
    },
    {
      question: "What should I label?",
      clicks: [(page) => page.getByRole("link", { name: /verdicts? to label$/ })],
      answer: (page) => page.getByText(/^\d+ of \d+ evaluators pass/),
    },
    {
      question: "What changed since the last run?",
      clicks: [run],
      answer: (page) =>
        page.getByText(
          /by exact-match: .*points of the .+ \(.+\); (.+ → |model the same|nothing else differs)/,
        ),
    },
    {
      question: "Can I show this to my boss?",
      clicks: [run, (page) => page.getByRole("link", { name: "Report" })],
      // The report is a file, so the page stays the same.
      answer: (page) => page.getByRole("link", { name: "Report" }),
    },
  ];
}
