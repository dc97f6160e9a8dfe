import type { Run } from "@presage/sdk";
import { Link, useNavigate } from "@tanstack/react-router";
import {
  CircleCheck,
  CirclePlay,
  CircleX,
  Download,
  Ellipsis,
  FileJson,
  Files,
  FileText,
  GitCompareArrows,
  Pause,
  Trash2,
} from "lucide-react";
import { useState } from "react";
import {
  isActive,
  useChangeRun,
  useDeleteRun,
  waitsForDeployment,
  waitsForUpload,
} from "../../../data/runs.ts";
import { AllowedButton, AllowedMenuItem } from "../../../parts/allowed.tsx";
import { LabelSampleButton } from "../../../parts/label-sample.tsx";
import { ShareButton } from "../../../parts/share.tsx";
import { buttonClass, CopyButton, IconButton } from "../../../ui/button.tsx";
import { ConfirmDialog } from "../../../ui/dialog.tsx";
import { Menu, MenuDownload } from "../../../ui/menu.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";

/** Actions that ask for confirmation. */
type Ending = "delete" | "cancel" | "finish";

/** The actions on a run: export its report, compare it, and end or delete it. */
export function RunActions({ run }: { run: Run }) {
  const navigate = useNavigate();
  const [asks, setAsks] = useState<Ending>();
  const change = useChangeRun(run.id);
  const remove = useDeleteRun({ onSuccess: () => void navigate({ to: "/runs" }) });
  const error = change.error ?? remove.error;
  return (
    <>
      {!waitsForUpload(run) && (
        <>
          <PauseButton run={run} isBusy={change.isPending} onChange={change.mutate} />
          {run.progress.evaluated > 0 && (
            <>
              <LabelSampleButton run={run} />
              <Link to="/compare" search={{ runs: run.id }} className={buttonClass({})}>
                <GitCompareArrows aria-hidden /> Compare
              </Link>
              <CopyButton text={() => location.href} label="Copy link to this view" />
              <ShareButton kind="run" ids={[run.id]} />
              <a href={`/v1/runs/${run.id}/report?format=html`} download className={buttonClass({})}>
                <Download aria-hidden /> Report
              </a>
            </>
          )}
        </>
      )}
      <EndMenu run={run} onChoose={setAsks} />
      <ConfirmDialog
        isOpen={asks === "finish"}
        onClose={() => setAsks(undefined)}
        title={`Finish ${run.name} without what is missing?`}
        confirmLabel="Finish the run"
        isBusy={change.isPending}
        onConfirm={() => change.mutate("finish", { onSettled: () => setAsks(undefined) })}
      >
        Predictions that are missing count as failed. This cannot be undone.
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={asks === "cancel"}
        onClose={() => setAsks(undefined)}
        title={`Cancel ${run.name}?`}
        confirmLabel="Cancel the run"
        isBusy={change.isPending}
        onConfirm={() => change.mutate("cancel", { onSettled: () => setAsks(undefined) })}
      >
        Its predictions stay and can be viewed. It cannot be resumed.
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={asks === "delete"}
        onClose={() => setAsks(undefined)}
        title={`Delete ${run.name}?`}
        confirmLabel="Delete the run"
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate(run.id, { onSettled: () => setAsks(undefined) })}
      >
        Its predictions and this report are deleted. Its evaluation results stay. This cannot be undone.
      </ConfirmDialog>
      {error !== null && (
        <div className="w-full">
          <ErrorNotice error={error} />
        </div>
      )}
    </>
  );
}

interface PauseButtonProps {
  run: Run;
  isBusy: boolean;
  onChange(change: "pause" | "resume"): void;
}

/** Pauses or resumes a run; offers both while it waits for its deployment. Absent for an ended run. */
function PauseButton({ run, isBusy, onChange }: PauseButtonProps) {
  const isWaiting = waitsForDeployment(run);
  return (
    <>
      {run.status === "paused" && (
        <AllowedButton
          needs="evaluate"
          icon={<CirclePlay aria-hidden />}
          isBusy={isBusy}
          onClick={() => onChange("resume")}
        >
          {isWaiting ? "Try now" : "Resume"}
        </AllowedButton>
      )}
      {(run.status === "running" || run.status === "queued" || isWaiting) && (
        <AllowedButton
          needs="evaluate"
          icon={<Pause aria-hidden />}
          isBusy={isBusy}
          onClick={() => onChange("pause")}
        >
          {isWaiting ? "Stop trying" : "Pause"}
        </AllowedButton>
      )}
    </>
  );
}

/** Other formats of the report, and ways to end the run. */
function EndMenu({ run, onChoose }: { run: Run; onChoose(ending: Ending): void }) {
  const report = `/v1/runs/${run.id}/report?format=`;
  return (
    <Menu trigger={<IconButton label="More actions" icon={<Ellipsis aria-hidden />} />}>
      <MenuDownload href={`${report}md`} icon={<FileText aria-hidden />}>
        Report as Markdown
      </MenuDownload>
      <MenuDownload href={`${report}json`} icon={<FileJson aria-hidden />}>
        All figures (JSON)
      </MenuDownload>
      <MenuDownload href={`/v1/runs/${run.id}/export`} icon={<Files aria-hidden />}>
        All predictions (JSON Lines)
      </MenuDownload>
      {run.status === "paused" && (
        <AllowedMenuItem
          needs="evaluate"
          icon={<CircleCheck aria-hidden />}
          onSelect={() => onChoose("finish")}
        >
          Finish without what is missing
        </AllowedMenuItem>
      )}
      {isActive(run) && (
        <AllowedMenuItem needs="evaluate" icon={<CircleX aria-hidden />} onSelect={() => onChoose("cancel")}>
          Cancel the run
        </AllowedMenuItem>
      )}
      <AllowedMenuItem
        needs="evaluate"
        icon={<Trash2 aria-hidden />}
        isDangerous
        onSelect={() => onChoose("delete")}
      >
        Delete the run
      </AllowedMenuItem>
    </Menu>
  );
}
