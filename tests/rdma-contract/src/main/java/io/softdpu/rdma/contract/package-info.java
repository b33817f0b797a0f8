/**
 * Contract tests of RDMA providers, which use only the public RDMA API: abstract test classes, one
 * per subject, which a provider's tests subclass with a {@link
 * io.softdpu.rdma.contract.RdmaTestEnvironment}, in which machines of the two sides reach each
 * other. What a provider tests beside them about listeners extends {@link
 * io.softdpu.rdma.contract.RdmaListenFixture}.
 *
 * <p><b>Thread.</b> Most tests progress both sides on one thread; tests of sleeping and waking use
 * one thread per side, and tests of a peer's death a separate process ({@link
 * io.softdpu.rdma.contract.PeerProgram}).
 *
 * <p><b>Ownership.</b> A test owns its machines and its folder. Every wait has a deadline.
 */
@NullMarked
package io.softdpu.rdma.contract;

import org.jspecify.annotations.NullMarked;
