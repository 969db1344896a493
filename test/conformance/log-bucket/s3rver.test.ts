import { startS3Server } from '../../fake/s3/s3-server.ts';
import { describeBucket } from './suite.ts';

describeBucket('a bucket of s3rver', startS3Server);
