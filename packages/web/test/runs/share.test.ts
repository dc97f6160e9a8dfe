import { expect } from "bun:test";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { finishRun, uploadHousehold } from "../support/household.ts";

const { slowBrowserTest, dashboardTest } = dashboardTests();
const evaluators = ["exact-match", "rouge-l", "token-f1"].map((evaluator) => ({ evaluator }));
const things = "fridge oven drawer cupboard door window box chest gate lamp".split(" ");

dashboardTest(
  "A run is shared with a link that is shown once, and works without a session until it is revoked",
  async ({ visit, client }) => {
    const { id: dataset_id } = await uploadHousehold(client, "shared");
    const run = await finishRun(client, { name: "shown", dataset_id, target: { baseline: "no-change" } });
    const page = await visit(`/runs/${run.id}`);
    await page.getByRole("button", { name: "Share" }).click();
    const dialog = page.getByRole("dialog", { name: "Share this run" });
    await dialog.getByRole("combobox", { name: "Ends" }).selectOption("7");
    await dialog.getByRole("button", { name: "Make a link" }).click();
    const address = await dialog.getByRole("textbox", { name: "Link" }).inputValue();
    const links = dialog.getByRole("list", { name: "Links that work" }).getByRole("listitem");
    await links.getByText("without texts").waitFor();
    // The shown link always matches the options.
    const texts = dialog.getByRole("switch", {
      name: "With texts of samples and models, params, notes",
    });
    await texts.click();
    await dialog.getByRole("textbox", { name: "Link" }).waitFor({ state: "detached" });
    await texts.click();
    expect(await dialog.getByRole("textbox", { name: "Link" }).inputValue()).toBe(address);
    const [share] = await client.shares.list([run.id]);
    const days = (Date.parse(share?.expires_at ?? "") - Date.parse(share?.created_at ?? "")) / 86_400_000;
    expect([Math.round(days), share?.with_texts]).toEqual([7, false]);

    const seen = await fetch(address);
    expect([seen.status, await seen.text()]).toEqual([200, expect.stringContaining("<h1>Run shown</h1>")]);
    await links.getByRole("button", { name: "Revoke the link" }).click();
    await links.first().waitFor({ state: "detached" });
    expect((await fetch(address)).status).toBe(404);
  },
);

slowBrowserTest(
  "Figures are saved as CSV with their intervals, and as a picture",
  async ({ visit, client }) => {
    const { id: dataset_id } = await uploadHousehold(client, "drawn", things);
    const run = await finishRun(client, {
      name: "drawn",
      dataset_id,
      target: { baseline: "no-change" },
      evaluators,
    });
    const page = await visit(`/runs/${run.id}`);
    const save = async (kind: string) => {
      await page.getByRole("button", { name: "Options of Pass rate by evaluator" }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name: `Save as ${kind}` }).click(),
      ]);
      const file = Bun.file(await download.path());
      return { name: download.suggestedFilename(), text: await file.text(), bytes: await file.bytes() };
    };
    const csv = await save("CSV");
    expect(csv.name).toBe("pass-rate-by-evaluator.csv");
    expect(csv.text.split("\r\n")[1]).toMatch(/^exact-match,0\.5,0\.27\d+,0\.72\d+,/);
    const { text: svg } = await save("SVG");
    expect(svg).toStartWith("<svg xmlns");
    expect(svg).toContain(">exact-match</text>");
    // The picture needs neither the page's styles nor its origin.
    expect(svg).not.toMatch(/class="|var\(|href=|<foreignObject/);
    const { bytes } = await save("PNG");
    expect([...bytes.slice(1, 4)]).toEqual([..."PNG"].map((letter) => letter.charCodeAt(0)));
  },
);

slowBrowserTest(
  "On A4, a comparison is complete, and no table is wider than the sheet",
  async ({ visit, client }) => {
    const { id: dataset_id } = await uploadHousehold(client, "printed", things);
    const run = async (name: string, baseline: "no-change" | "most-frequent") =>
      (await finishRun(client, { name, dataset_id, target: { baseline }, evaluators })).id;
    const ids = [await run("first", "no-change"), await run("second", "most-frequent")];
    const page = await visit(`/compare?runs=${ids}`);
    await page.getByRole("region", { name: "Differences from the reference" }).waitFor();
    await page.getByRole("heading", { name: "Samples that differ" }).waitFor();
    // 210 mm minus the margins, in CSS pixels.
    await page.setViewportSize({ width: 703, height: 1000 });
    await page.emulateMedia({ media: "print" });
    const tooWide = await page.evaluate(() =>
      [...document.querySelectorAll("table")]
        .filter((table) => table.getBoundingClientRect().right > innerWidth + 1)
        .map((table) => table.closest("section")?.getAttribute("aria-label")),
    );
    expect(tooWide).toEqual([]);
    expect(await page.getByRole("navigation").isVisible()).toBe(false);
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    expect(
      await page.getByRole("combobox").or(page.getByRole("radiogroup")).filter({ visible: true }).count(),
    ).toBe(0);
    // Cells are stacked: in columns, each would be a few letters wide.
    await page.waitForFunction(() => {
      const row = document.querySelector('table[aria-label="Samples that differ"] tbody tr');
      return row !== null && getComputedStyle(row).display === "flex";
    });
    const pdf = Buffer.from(await page.pdf({ format: "A4" })).toString("latin1");
    expect(pdf.match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(1);
    // Charts are drawn as lines, so the PDF contains no picture.
    expect(pdf).not.toContain("/Subtype /Image");
  },
);
