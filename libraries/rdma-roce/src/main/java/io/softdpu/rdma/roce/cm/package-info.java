/**
 * Connection management of RoCE v2 on queue pair 1, as pure Java.
 *
 * <p>Role: this package connects queue pairs with those of peers and ends their connections, by the
 * messages of RDMA CM, which Linux speaks too. Start with {@link
 * io.softdpu.rdma.roce.cm.ConnectionManager}, the {@linkplain
 * io.softdpu.rdma.roce.adapter.Management management} of an adapter. Each {@link
 * io.softdpu.rdma.roce.cm.CmConnection} owns its queue pair, which is destroyed after its TIMEWAIT,
 * and tells its {@link io.softdpu.rdma.roce.cm.ConnectionListener} what happens to it. The formats
 * are those of {@code docs/wire/roce.md}.
 *
 * <p>Thread rule: a manager, its connections and their listeners belong to one thread at a time.
 *
 * <p>Ownership: a manager owns its connections until they are released; their number, and the time
 * for which each is kept, are limited by {@link io.softdpu.rdma.roce.cm.CmLimits}, whatever peers
 * send. Connecting allocates; nothing here is on the path of data.
 */
@NullMarked
package io.softdpu.rdma.roce.cm;

import org.jspecify.annotations.NullMarked;
