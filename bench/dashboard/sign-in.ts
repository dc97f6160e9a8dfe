import type { Browser, SignedIn } from "./visitor.ts";

/** Signs in with the last link that the server printed, and returns the cookie that a browser keeps. */
export const signIn = async (browser: Browser, printed: string): Promise<SignedIn> => {
  const address = printed.match(/http\S+\/sign-in#\S+/g)?.at(-1);
  if (address === undefined) throw new Error("the server printed no address that signs in");
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(address);
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    return await context.storageState();
  } finally {
    await context.close();
  }
};
