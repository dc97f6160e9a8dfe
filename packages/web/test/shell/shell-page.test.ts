import { expect } from "bun:test";
import { dashboardTests } from "../support/dashboard-tests.ts";

const { slowBrowserTest, dashboardTest } = dashboardTests();

const addresses = [
  "/",
  "/playground",
  "/evaluations?verdict=fail",
  "/evaluators",
  "/evaluators/profiles/11111111-1111-4111-8111-111111111111",
  "/error-taxonomies",
  "/error-taxonomies/11111111-1111-4111-8111-111111111111",
  "/usage?period=30d",
  "/api-keys",
  "/account",
];

dashboardTest("Every URL serves the page, which trusts no other origin", async ({ presage, cookies }) => {
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  for (const address of addresses) {
    const { status, headers } = await fetch(presage.url + address, { headers: { cookie } });
    expect([address, status]).toEqual([address, 200]);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(/script-src ([^;]*)/.exec(policy)?.[1]).toBe("'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/https?:|\*/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  }
});

dashboardTest("Without a session every URL redirects to sign-in and is remembered", async ({ presage }) => {
  for (const address of addresses) {
    const { status, headers } = await fetch(presage.url + address, { redirect: "manual" });
    const location = new URL(headers.get("location") ?? "", presage.url);
    expect([status, location.pathname, location.searchParams.get("return_to")]).toEqual([
      303,
      "/sign-in",
      address,
    ]);
  }
});

dashboardTest("A URL of a missing resource says so and links onwards", async ({ visit }) => {
  const page = await visit("/evaluators/profiles/11111111-1111-4111-8111-111111111111");
  await page.getByRole("heading", { name: "Profile not found" }).waitFor();
  await page.goto(new URL("/error-taxonomies/11111111-1111-4111-8111-111111111111", page.url()).href);
  await page.getByRole("heading", { name: "Error taxonomy not found" }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "All error taxonomies" }).click();
  await page.getByRole("heading", { name: "Error taxonomies", level: 1 }).waitFor();
});

dashboardTest("A wrong URL returns a page for people, and JSON for programs", async (visitor) => {
  const { visit, presage, expectErrors } = visitor;
  expectErrors(/status of 404/);
  const page = await visit("/evaluatons");
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  await page.getByRole("complementary", { name: "Presage" }).waitFor();
  await page.getByRole("link", { name: "Go to the overview" }).click();
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  expect(
    await (await fetch(`${presage.url}/evaluatons`, { headers: { "sec-fetch-mode": "navigate" } })).text(),
  ).toContain("Go to the dashboard");
  const forPrograms = await fetch(`${presage.url}/evaluatons`);
  expect([forPrograms.status, await forPrograms.json()]).toMatchObject([
    404,
    { detail: "There is nothing at this path." },
  ]);
});

slowBrowserTest(
  "Without JavaScript, the page says what needs it and links to what does not",
  async ({ visit, presage }) => {
    const page = await visit("/", { javaScriptEnabled: false });
    expect(await page.textContent("noscript")).toStartWith(
      "The dashboard needs JavaScript. The API does not: /docs describes it",
    );
    const link = await page.getByRole("link", { name: "/openapi.json" }).getAttribute("href");
    const response = await fetch(new URL(link ?? "", presage.url));
    expect(await response.json()).toMatchObject({ openapi: expect.stringMatching(/^3\./) });
  },
);
