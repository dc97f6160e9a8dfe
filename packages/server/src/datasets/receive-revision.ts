import type { DatasetFormat } from "@presage/contract";
import { receiveUpload } from "../http/receive-upload.ts";
import { requesterOf } from "../http/requester-of.ts";
import type { CallWithCaller } from "../http/route.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import type { UploadedRevision } from "./upload/upload-revision.ts";

/** Stores the lines of a request's body as a revision, as they arrive. */
export async function receiveRevision(
  { datasets }: Pick<EvaluationServices, "datasets">,
  call: CallWithCaller,
  { id, format, isAppended }: { id: string; format: DatasetFormat | undefined; isAppended: boolean },
): Promise<UploadedRevision> {
  const { maxBytes, floor, quotaBytes, uploads } = datasets;
  const { accountId, actor } = requesterOf(call);
  try {
    return await receiveUpload(call, (body, { isGzip }) =>
      uploads.uploadRevision(
        { accountId, actor, datasetId: id, format, isGzip, isAppended, maxBytes, floor, quotaBytes },
        body,
        call.request.signal,
      ),
    );
  } finally {
    datasets.sweeper.schedule();
  }
}
