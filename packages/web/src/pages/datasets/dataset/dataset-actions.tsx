import type { Dataset, DatasetRevision } from "@presage/sdk";
import { Download, Play, Trash2, Upload } from "lucide-react";
import { useState } from "react";
import { NewRunLink } from "../../../parts/runs.tsx";
import { AllowedButton } from "../../../session/allowed-button.tsx";
import { buttonClass } from "../../../ui/button.tsx";
import { DeleteDatasetDialog } from "./delete-dataset-dialog.tsx";

interface DatasetActionsProps {
  dataset: Dataset;
  /** The one that is shown. */
  revision: DatasetRevision | undefined;
  onUpload(): void;
}

export function DatasetActions({ dataset, revision, onUpload }: DatasetActionsProps) {
  const [isDeleteOpen, setDeleteOpen] = useState(false);
  return (
    <>
      <AllowedButton
        needs="evaluate"
        variant="quiet"
        icon={<Trash2 aria-hidden />}
        onClick={() => setDeleteOpen(true)}
      >
        Delete
      </AllowedButton>
      {revision !== undefined && (
        <a
          href={`/v1/datasets/${dataset.id}/export?revision=${revision.revision}`}
          download={`${dataset.name}-r${revision.revision}.jsonl`}
          title="All lines of this revision. Their SHA-256 is its digest."
          className={buttonClass({})}
        >
          <Download aria-hidden />
          Download
        </a>
      )}
      <AllowedButton needs="evaluate" icon={<Upload aria-hidden />} onClick={onUpload}>
        Upload revision
      </AllowedButton>
      {revision !== undefined && (
        <NewRunLink
          search={{ dataset: dataset.id, revision: revision.revision }}
          variant="primary"
          icon={<Play aria-hidden />}
        >
          Run on this
        </NewRunLink>
      )}
      <DeleteDatasetDialog dataset={dataset} isOpen={isDeleteOpen} onClose={() => setDeleteOpen(false)} />
    </>
  );
}
