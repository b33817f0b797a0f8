/**
 * The fabric folder: the files in which processes meet, agree on a topology, note what was plugged
 * in, and hold the names that they serve.
 *
 * <p><b>Threads.</b> Any thread; processes exclude each other by locks on files, which are held for
 * microseconds and waited for under a deadline.
 *
 * <p><b>Ownership.</b> The bus owns its folder object, which owns the descriptors of the folder and
 * of its topology; the descriptor of a name's lock belongs to who has claimed the name.
 *
 * <p><b>Trust.</b> The folder is private to one user, and its processes may all the same leave
 * anything in it: what is opened is examined first, and a file that is not the fabric's is refused.
 */
@NullMarked
package io.softdpu.fabric.folder;

import org.jspecify.annotations.NullMarked;
