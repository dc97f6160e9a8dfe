import type { AgreementOfLabelsQuery } from "@presage/contract";
import type { OpenedStore } from "../../app/storage.ts";
import type { Changer } from "../../platform/audit.ts";
import { UploadError } from "../../platform/errors.ts";
import { annotatorOf, labelResult, listOfLabels } from "../../results/labels/labels.ts";
import { createClientCounts } from "../../runs/client/client-counts.ts";
import { agreementOf } from "../../runs/labels/agreement.ts";
import { importLabels } from "../../runs/labels/import-labels.ts";
import { drawLabelSample } from "../../runs/labels/label-samples.ts";
import { CommandError } from "../command.ts";
import type { Client } from "../connect.ts";

/** Labels in the configured database. Those without an annotator are the owner's. */
export function labelsOfDatabase(store: OpenedStore, requester: Changer): Client["labels"] {
  // A server merges what was counted.
  const services = { store, countsMerger: { schedule() {} }, clientCounts: createClientCounts() };
  const userId = store.owner.id;
  return {
    async give(id, { label, score = null, annotator }) {
      const by = annotatorOf(annotator, userId);
      await labelResult(services, requester, { resultId: Number(id), by, label, score }, undefined);
      return await listOfLabels(services, requester, Number(id));
    },
    async import(lines, { isGzip = false } = {}) {
      const body = new Response(lines).body as ReadableStream<Uint8Array>;
      try {
        return await importLabels(services, requester, { body, isGzip, userId, reserve() {} });
      } catch (error) {
        throw error instanceof UploadError ? new CommandError(error.message) : error;
      }
    },
    draw: (id, wanted) =>
      drawLabelSample(services, { ...requester, userId }, id, wanted, { once: undefined, reserve() {} }),
    agreement: (query = {}) => agreementOf(services, requester, query as AgreementOfLabelsQuery, () => {}),
  };
}
