package io.softdpu.rdma;

/**
 * Request of a connection by address that no listener has answered yet: what the next provider
 * needs if nothing listens there for this one.
 *
 * @param address of the listener
 * @param privateData for its program; not modified
 * @param provider index of the provider that the listener is requested from
 * @param failures of the providers that were asked before, and of those that were left out
 */
@SuppressWarnings("ArrayRecordComponent") // package-private, never compared
record AddressAttempt(
        RdmaAddress address, byte[] privateData, int provider, ProviderFailures failures) {}
