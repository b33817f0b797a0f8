/**
 * Files of the fabric folder: the agreed topology, functions that were plugged in, and sockets and
 * locks of served names.
 *
 * <p><b>Threads.</b> Any thread; processes exclude each other by locks on files, which are held for
 * microseconds and waited for under a deadline.
 *
 * <p><b>Ownership.</b> The bus owns its folder object, which owns the descriptors of the folder and
 * of its topology; the descriptor of a name's lock belongs to the caller that claimed the name.
 *
 * <p><b>Trust.</b> The folder is private to one user, but its processes may leave anything in it:
 * each file is examined after it was opened, and one that is not the fabric's is refused.
 */
@NullMarked
package io.softdpu.fabric.folder;

import org.jspecify.annotations.NullMarked;
