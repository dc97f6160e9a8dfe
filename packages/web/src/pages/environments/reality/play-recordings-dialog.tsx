import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { datasetsQuery } from "../../../data/datasets.ts";
import { useCheckReality } from "../../../data/reality.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { SelectField } from "../../../ui/form/fields.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";

interface PlayRecordingsDialogProps {
  environment: string;
  isOpen: boolean;
  onClose(): void;
}

/** Lets the environment play recorded actions: what was recorded is the reality. */
export function PlayRecordingsDialog({ isOpen, onClose, environment }: PlayRecordingsDialogProps) {
  const [chosen, setChosen] = useState<string>();
  const { data: datasets = [] } = useQuery(datasetsQuery(usePresage()));
  const play = useCheckReality(onClose);
  const id = chosen ?? datasets[0]?.id;
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Play recordings"
      hint="The environment plays the actions of 1,000 recorded trajectories at most, each from its first state. What was recorded is the reality."
    >
      <div className="flex flex-col gap-4">
        <SelectField
          label="Dataset"
          hint={datasets.length === 0 ? "There is none yet: import traces first." : undefined}
          value={id ?? ""}
          options={datasets.map((dataset) => ({ value: dataset.id, label: dataset.name }))}
          onChange={setChosen}
        />
        {play.error !== null && <ErrorNotice error={play.error} />}
        <Button
          variant="primary"
          className="self-end"
          isBusy={play.isPending}
          disabled={id === undefined}
          onClick={() => play.mutate({ environment, dataset_id: id })}
        >
          Play them
        </Button>
      </div>
    </Dialog>
  );
}
