// Tells the server what this client can show beyond standard LSP.

import type { ClientCapabilities, FeatureState, StaticFeature } from "vscode-languageclient/node";

export class IntarsiaCapabilities implements StaticFeature {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const intarsia = { drafts: true, status: true, confidence: true };
    capabilities.experimental = { ...(capabilities.experimental as object), intarsia };
  }

  initialize(): void {
    // nothing to register: the notifications come by themselves
  }

  getState(): FeatureState {
    return { kind: "static" };
  }

  clear(): void {
    // nothing was registered
  }
}
