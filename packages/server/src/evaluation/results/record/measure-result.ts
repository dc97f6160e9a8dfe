import type { Asker } from "../../../storage/reader.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import { selectOwnId } from "../keep/results-store.ts";
import { selectPayloadBytes } from "./payload-bytes-store.ts";

/** About how many bytes the payload of a result takes; 0 if the account has no such result. */
export async function measureResult(
  { store }: Pick<EvaluationServices, "store">,
  asker: Asker,
  id: number,
): Promise<number> {
  const reader = store.briefReader(asker);
  const own = await selectOwnId(reader, asker.accountId, id);
  if (own === undefined) return 0;
  return (await selectPayloadBytes(reader, [own])).get(own) ?? 0;
}
