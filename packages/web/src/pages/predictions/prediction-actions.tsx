import type { StoredPredictionDetail } from "@presage/sdk";
import { useNavigate } from "@tanstack/react-router";
import { DatabaseZap, FlaskConical, Trash2 } from "lucide-react";
import { useState } from "react";
import { useDeletePrediction, useTabState } from "../../data/predictions.ts";
import { referenceOf } from "../../data/worlds.ts";
import { AllowedButton } from "../../parts/allowed.tsx";
import { fillPlayground, isPlaygroundEmpty, toPlaygroundDraft } from "../../parts/playground-draft.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { AddToDatasetDialog, toSample } from "./add-to-dataset-dialog.tsx";

interface PredictionActionsProps {
  prediction: StoredPredictionDetail;
  onDeleted(): void;
}

type Asking = "replace" | "dataset" | "delete";

/** Repeats the request, adds the prediction to a dataset, or deletes it. */
export function PredictionActions({ prediction, onDeleted }: PredictionActionsProps) {
  const [asking, setAsking] = useState<Asking>();
  const navigate = useNavigate();
  const [, chooseDeployment] = useTabState("playground deployment", "");
  const [, chooseWorld] = useTabState("playground world", "");
  const draft = toPlaygroundDraft(prediction);
  const sample = toSample(prediction);
  const close = () => setAsking(undefined);

  function openInPlayground() {
    if (draft === undefined) return;
    fillPlayground(draft);
    chooseWorld(() => worldAsked(prediction));
    chooseDeployment(() => prediction.deployment ?? "");
    void navigate({ to: "/playground" });
  }

  return (
    <>
      <Button
        size="small"
        icon={<FlaskConical aria-hidden />}
        disabled={draft === undefined}
        title={
          draft === undefined
            ? "The playground has no fields for the messages of a chat, or for steps before this one."
            : undefined
        }
        onClick={() => (isPlaygroundEmpty() ? openInPlayground() : setAsking("replace"))}
      >
        Replay in the playground
      </Button>
      <AllowedButton
        needs="evaluate"
        size="small"
        icon={<DatabaseZap aria-hidden />}
        disabled={sample === undefined}
        title={sample === undefined ? "The request is not known, or is not text." : undefined}
        onClick={() => setAsking("dataset")}
      >
        Add to dataset
      </AllowedButton>
      {prediction.source === "live" && (
        <AllowedButton
          needs="manage"
          size="small"
          icon={<Trash2 aria-hidden />}
          onClick={() => setAsking("delete")}
        >
          Delete
        </AllowedButton>
      )}
      <ConfirmDialog
        isOpen={asking === "replace"}
        onClose={close}
        title="Replace what is in the playground?"
        confirmLabel="Replace"
        onConfirm={openInPlayground}
      >
        The playground contains your input.
      </ConfirmDialog>
      <DeletePredictionDialog
        id={prediction.id}
        isOpen={asking === "delete"}
        onClose={close}
        onDeleted={onDeleted}
      />
      {sample !== undefined && (
        <AddToDatasetDialog isOpen={asking === "dataset"} onClose={close} sample={sample} />
      )}
    </>
  );
}

/** “rooms@2”; empty if no world was asked. A failed prediction has no world, but its parameters name the requested one. */
function worldAsked({ world, params }: StoredPredictionDetail): string {
  if (world) return referenceOf(world);
  return typeof params?.world === "string" ? params.world : "";
}

interface DeletePredictionDialogProps {
  id: string;
  isOpen: boolean;
  onClose(): void;
  onDeleted(): void;
}

function DeletePredictionDialog({ id, isOpen, onClose, onDeleted }: DeletePredictionDialogProps) {
  const deletion = useDeletePrediction({ onSuccess: onDeleted });
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title="Delete this prediction"
      confirmLabel="Delete"
      change={deletion}
      onConfirm={() => deletion.mutate(id)}
    >
      It is deleted together with its request. This cannot be undone.
    </ConfirmDialog>
  );
}
