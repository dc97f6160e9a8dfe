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
  /** Loaded before the overview shows its figures and charts. */
  readonly beforeUsable: readonly SentFile[];
  /** Loaded afterwards. */
  readonly afterwards: readonly SentFile[];
}

const describe = async (request: Request): Promise<SentFile> => {
  const response = await request.response();
  const { responseBodySize } = await request.sizes();
  return {
    kind: request.resourceType(),
    bytes: responseBodySize,
    encoding: response === null ? undefined : (await response.allHeaders())["content-encoding"],
  };
};

export const measureFirstLoad = async (visitor: Visitor): Promise<FirstLoad> =>
  await withPage(visitor, async (page) => {
    const requests: Request[] = [];
    page.on("request", (request) => requests.push(request));
    await page.goto(visitor.origin + overview.path, { waitUntil: "commit" });
    await readMarkMs(page, overview.mark);
    await page.getByRole("slider", { name: "Predictions over time" }).waitFor();
    const early = [...requests];
    await page.waitForLoadState("networkidle");
    const late = requests.filter((request) => !early.includes(request));
    return {
      beforeUsable: await Promise.all(early.map(describe)),
      afterwards: await Promise.all(late.map(describe)),
    };
  });

export const sumBytes = (files: readonly SentFile[], kind: string): number =>
  files.reduce((sum, file) => sum + (file.kind === kind ? file.bytes : 0), 0);

/** Of the whole page, whenever they are loaded. */
export const sumScripts = ({ beforeUsable, afterwards }: FirstLoad): number =>
  sumBytes([...beforeUsable, ...afterwards], "script");
