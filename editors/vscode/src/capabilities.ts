// Declares the extensions of LSP that this client supports.

import type { ClientCapabilities, FeatureState, StaticFeature } from "vscode-languageclient/node";

export class IntarsiaCapabilities implements StaticFeature {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const intarsia = { drafts: true, status: true, confidence: true, nextEdits: true };
    capabilities.experimental = { ...(capabilities.experimental as object), intarsia };
  }

  initialize(): void {
    // nothing to register
  }

  getState(): FeatureState {
    return { kind: "static" };
  }

  clear(): void {
    // nothing was registered
  }
}
