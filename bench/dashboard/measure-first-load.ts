import { overview } from "./views.ts";
import { type Page, readMarkMs, type Visitor, withPage } from "./visitor.ts";

type Request = Awaited<ReturnType<Page["waitForRequest"]>>;

export interface SentFile {
  /** As the browser names it: "script", "stylesheet", "font", … */
  readonly kind: string;
  /** Size of the encoded body. */
  readonly bytes: number;
  readonly encoding: string | undefined;
}

export interface FirstLoad {
  /** Loaded before the overview shows its figures. */
  readonly beforeUsable: readonly SentFile[];
  /** Loaded afterwards: the charts. */
  readonly afterwards: readonly SentFile[];
}

const chartScript = /\/assets\/time-plot-\w+\.js$/;

const describe = async (request: Request): Promise<SentFile> => {
  const response = await request.response();
  const { responseBodySize } = await request.sizes();
  return {
    kind: request.resourceType(),
    bytes: responseBodySize,
    encoding: response === null ? undefined : (await response.allHeaders())["content-encoding"],
  };
};

/** Delays the charts until the page is usable, which proves that it does not need them and separates their bytes. */
export const measureFirstLoad = async (visitor: Visitor): Promise<FirstLoad> =>
  await withPage(visitor, async (page) => {
    const requests: Request[] = [];
    page.on("request", (request) => requests.push(request));
    const { promise: isUsable, resolve: release } = Promise.withResolvers<void>();
    await page.route(chartScript, async (route) => {
      await isUsable;
      await route.continue();
    });
    const open = async () => {
      await page.goto(visitor.origin + overview.path, { waitUntil: "commit" });
      await readMarkMs(page, overview.mark);
    };
    await Promise.all([page.waitForRequest(chartScript), open()]);
    const early = requests.filter((request) => !chartScript.test(request.url()));
    const beforeUsable = await Promise.all(early.map(describe));
    release();
    await page.waitForLoadState("networkidle");
    const afterwards = await Promise.all(
      requests.filter((request) => !early.includes(request)).map(describe),
    );
    return { beforeUsable, afterwards };
  });

export const sumBytes = (files: readonly SentFile[], kind: string): number =>
  files.reduce((sum, file) => sum + (file.kind === kind ? file.bytes : 0), 0);
