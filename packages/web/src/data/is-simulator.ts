import type { Model } from "@presage/sdk";

/** Whether it is what Presage brings along for trying it out. */
export function isSimulator({ owned_by, description }: Model): boolean {
  return owned_by === "presage" && typeof description === "string" && description.includes("simulator");
}
