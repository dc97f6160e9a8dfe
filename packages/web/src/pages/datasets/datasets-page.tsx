import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, useNavigate } from "@tanstack/react-router";
import { Database, Upload } from "lucide-react";
import { useState } from "react";
import { datasetsQuery } from "../../data/runs/datasets.ts";
import { usePresage } from "../../data/use-presage.ts";
import { ExampleNote, ExampleOffer } from "../../parts/example.tsx";
import { AllowedButton } from "../../session/allowed-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { Page } from "../../ui/page.tsx";
import { DatasetTable } from "./dataset-table.tsx";
import { UploadDialog } from "./upload/upload-dialog.tsx";

export const datasetsRoute = createLazyRoute("/datasets")({ component: DatasetsPage });

function DatasetsPage() {
  const [isUploadOpen, setUploadOpen] = useState(false);
  const navigate = useNavigate();
  const datasets = useQuery(datasetsQuery(usePresage()));
  const uploadButton = (
    <AllowedButton
      needs="evaluate"
      variant="primary"
      icon={<Upload aria-hidden />}
      onClick={() => setUploadOpen(true)}
    >
      Upload
    </AllowedButton>
  );
  return (
    <Page
      title="Datasets"
      hint="Recorded transitions of an environment: state, action, and what the environment answered."
      actions={uploadButton}
    >
      {datasets.error !== null && <ErrorNotice error={datasets.error} onRetry={datasets.refetch} />}
      {(datasets.data !== undefined || datasets.error === null) && (
        <DatasetTable
          datasets={datasets.data}
          empty={
            <EmptyState
              icon={Database}
              title="No datasets yet"
              actions={
                <>
                  <AllowedButton needs="evaluate" onClick={() => setUploadOpen(true)}>
                    Upload a file
                  </AllowedButton>
                  <ExampleOffer />
                </>
              }
            >
              A run predicts every sample of a dataset and says how far the model can be trusted. Upload
              recorded transitions as JSON Lines; <code className="font-mono">presage datasets import</code>{" "}
              does the same.
            </EmptyState>
          }
        />
      )}
      <ExampleNote />
      <UploadDialog
        isOpen={isUploadOpen}
        onClose={() => setUploadOpen(false)}
        dataset={undefined}
        onUploaded={({ id }) => navigate({ to: "/datasets/$datasetId", params: { datasetId: id } })}
      />
    </Page>
  );
}
