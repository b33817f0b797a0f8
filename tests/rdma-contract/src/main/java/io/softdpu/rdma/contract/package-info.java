/**
 * The contract of RDMA providers, above the public RDMA API alone: abstract test classes, one a
 * subject, which a provider's tests subclass with a {@link io.softdpu.rdma.contract.RdmaSite}, the
 * place where machines of the two sides reach each other.
 *
 * <p><b>Thread.</b> Most tests drive both sides from one thread; those on sleeping and waking give
 * each side its own, and those on a peer's death its own process ({@link
 * io.softdpu.rdma.contract.PeerProgram}).
 *
 * <p><b>Ownership.</b> A test owns its machines and its folder. Every wait has a deadline.
 */
@NullMarked
package io.softdpu.rdma.contract;

import org.jspecify.annotations.NullMarked;
