import { PresageError } from "@presage/sdk";

/** Loads a page's code. It does not come if the server cannot be reached, or has another version of the dashboard by now. */
export async function loadPage<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw new PresageError("A part of the dashboard did not come.", { category: "connection", cause });
  }
}
