import type { Presage } from "@presage/sdk";
import { createContext, use } from "react";

export const PresageContext = createContext<Presage | undefined>(undefined);

/** The client that every page calls the server with. */
export function usePresage(): Presage {
  const presage = use(PresageContext);
  if (presage === undefined) throw new Error("There is no client around this component.");
  return presage;
}
