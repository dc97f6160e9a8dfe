import { PresageError } from "@presage/sdk";

/** Loads a page's code. This fails if the server is unreachable or has another version of the dashboard by now. */
export async function loadPage<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw new PresageError("Part of the dashboard could not be loaded.", { category: "connection", cause });
  }
}
